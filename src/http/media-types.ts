/** The unregistered type that vendors refuse, at the beginning of a data URL. */
const dataURL = /^data:image\/jpg(?=[;,])/i;

/** The same in JSON, as the beginning of a string or as the type beside base64. Escaped JSON is text of its own. */
const inJSON = /(?<!\\)"(data:|(?:mime_?type|media_?type)": ?")image\/jpg(?=[;,"])/gi;

/** Writes `image/jpg` at the beginning of a data URL as `image/jpeg`. Other text is unchanged. */
export const withRegisteredType = (text: string): string =>
  text.replace(dataURL, 'data:image/jpeg');

/** Writes the type `image/jpg` in a JSON text as `image/jpeg`. */
export function withRegisteredTypes(json: string): string {
  return json.includes('image/jpg') ? json.replaceAll(inJSON, '"$1image/jpeg') : json;
}

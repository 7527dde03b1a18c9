import type { MutantsByFile } from './mutant.ts';

/** The places of images, audio and videos in responses. */
export const mediaMutants: MutantsByFile = {
  'resources/images/pictures.ts': [
    { is: 'text.length >= shortestPicture && ', becomes: '' },
    {
      is: "if (isOther || (key === 'message' && typeof inner === 'string')) continue;",
      becomes: '',
    },
    {
      is: '/^image\\//i.test(type) ? [{ b64_json: content, media_type: type }] : []',
      becomes: '[{ b64_json: content, media_type: type }]',
    },
    { is: 'return !seen.has(content) && Boolean(seen.add(content));', becomes: 'return true;' },
    {
      is: "return start >= 0 && !before.includes(']', start) ? [{ url }] : [];",
      becomes: 'return [{ url }];',
    },
    { is: "([, inner]) => typeof inner === 'object'", becomes: '() => true' },
    { is: 'if (data.length === 0 && !isFiltered) return undefined;', becomes: '' },
  ],
  'answers/result-places.ts': [
    { is: 'if (isSent(value, sent)) return undefined;', becomes: '' },
    { is: '|(?<!re)source|', becomes: '|' },
  ],
  'answers/received-file.ts': [
    { is: 'if (isTag || !/\\}\\s*$/.test(text)) return undefined;', becomes: '' },
    { is: "if (isObject(value) && hasValue(value['error']))", becomes: 'if (isObject(value))' },
    { is: 'isCut: this.#walk?.isCut === true', becomes: 'isCut: false' },
  ],
  'answers/container.ts': [
    { is: 'mayEnd: !hasMedia || hasIndex', becomes: 'mayEnd: true' },
    { is: "return !('read' in need && need.mayEnd === true);", becomes: 'return true;' },
    { is: 'if (size < largestRIFF) yield', becomes: 'yield' },
  ],
  'resources/images/task.ts': [
    { is: 'if (isFiltered && status !== 202) return undefined;', becomes: '' },
    { is: '!isObject(body) || holdsPicture(body)', becomes: '!isObject(body)' },
    {
      is: 'isSure = status === 202 || isTask || isPolled || isPending',
      becomes: 'isSure = isTask || isPolled || isPending',
    },
  ],
  'resources/images/accepted.ts': [
    { is: 'if (origin !== new URL(baseURL).origin) return undefined;', becomes: '' },
    { is: '.filter(([name]) => !isSecretName(name))', becomes: '' },
  ],
  'resources/images/poll.ts': [
    { is: "if (isEmpty && !isNamed) status = 'queued';", becomes: '' },
    {
      is: 'return url !== undefined && isSameOrigin(url, base) ? url : undefined;',
      becomes: 'return url;',
    },
    { is: 'if (!isUnknownTask(error)) throw error;', becomes: '' },
    {
      is: 'statuses.indexOf(one.status) - statuses.indexOf(other.status)',
      becomes: '0',
    },
  ],
  'resources/audio/places.ts': [
    {
      is: '(/audio/i.test(name) || text.length >= shortest ||',
      becomes: '(text.length >= shortest ||',
    },
    { is: "bytes.length > 0 ? bytes : collect(value, '', isAddress)", becomes: 'bytes' },
  ],
  'resources/audio/formats.ts': [
    {
      is: 'if (bytes !== undefined) pieces.push(bytes);',
      becomes: 'if (bytes !== undefined) pieces.splice(0, 1, bytes);',
    },
    { is: 'audio !== undefined && !hasAudio', becomes: 'audio !== undefined' },
    {
      is: 'isFile ? fetchTarget(redirect, request) : undefined',
      becomes: 'fetchTarget(redirect, request)',
    },
  ],
  'resources/videos/schema.ts': [
    { is: 'otherFields.test(name) ? undefined : searchVideo', becomes: 'searchVideo' },
    { is: 'imageFile.test(new URL(url).pathname) ? undefined : url', becomes: 'url' },
    {
      is: "status === 'completed' && value['url'] === undefined ? findWithheld(body) : undefined",
      becomes: 'undefined',
    },
  ],
};

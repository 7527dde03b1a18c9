/** A panel, what is filled in, and the button that starts its call. */
export interface PanelForm {
  readonly panel: string;
  /** The name of the text field. */
  readonly field?: string | RegExp;
  /** The label of the file field. */
  readonly file?: string;
  readonly button: string;
  /** The title of the empty list. */
  readonly empty: string;
  /** What the result is called when it is read out. */
  readonly noun: string;
}

export const forms: readonly PanelForm[] = [
  { panel: 'Chat', field: 'Message', button: 'Send', empty: 'No messages yet', noun: 'Answer' },
  {
    panel: 'Images',
    field: 'Prompt',
    button: 'Create an image',
    empty: 'No images yet',
    noun: 'Image',
  },
  { panel: 'Speech', field: /^Text\b/, button: 'Speak', empty: 'No speech yet', noun: 'Speech' },
  {
    panel: 'Transcription',
    file: 'Audio',
    button: 'Transcribe',
    empty: 'No transcriptions yet',
    noun: 'Transcription',
  },
  {
    panel: 'Translation',
    file: 'Audio',
    button: 'Translate',
    empty: 'No translations yet',
    noun: 'Translation',
  },
  {
    panel: 'Embeddings',
    field: /^Texts/,
    button: 'Compare 1 text',
    empty: 'No comparison yet',
    noun: 'Comparison',
  },
  {
    panel: 'Video',
    field: 'Prompt',
    button: 'Create a video',
    empty: 'No videos yet',
    noun: 'Video',
  },
];

/** A recording without samples. */
export const recording = {
  name: 'speech.wav',
  mimeType: 'audio/wav',
  buffer: Buffer.from(
    'RIFF$\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0@\x1f\0\0@\x1f\0\0\x01\0\b\0data\0\0\0\0',
    'latin1',
  ),
};

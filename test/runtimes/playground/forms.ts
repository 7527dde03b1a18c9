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
  /** A line of the accessibility tree that the result adds. */
  readonly result: RegExp;
}

export const forms: readonly PanelForm[] = [
  {
    panel: 'Chat',
    field: 'Message',
    button: 'Send',
    empty: 'No messages yet',
    noun: 'Answer',
    result: /paragraph: .?You said/,
  },
  {
    panel: 'Images',
    field: 'Prompt',
    button: 'Create an image',
    empty: 'No images yet',
    noun: 'Image',
    result: /img "/,
  },
  {
    panel: 'Speech',
    field: /^Text\b/,
    button: 'Speak',
    empty: 'No speech yet',
    noun: 'Speech',
    result: /link "Save/,
  },
  {
    panel: 'Transcription',
    file: 'Audio',
    button: 'Transcribe',
    empty: 'No transcriptions yet',
    noun: 'Transcription',
    result: /button "Copy"/,
  },
  {
    panel: 'Translation',
    file: 'Audio',
    button: 'Translate',
    empty: 'No translations yet',
    noun: 'Translation',
    result: /button "Copy"/,
  },
  {
    panel: 'Embeddings',
    field: /^Texts/,
    button: 'Compare 1 text',
    empty: 'No comparison yet',
    noun: 'Comparison',
    result: /group "Similarity of the texts"/,
  },
  {
    panel: 'Video',
    field: 'Prompt',
    button: 'Create a video',
    empty: 'No videos yet',
    noun: 'Video',
    result: /group: Remix/,
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

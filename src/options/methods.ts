/** The methods that accept options, in groups whose requests use the same ones. */
const groups = {
  client: ['client'],
  account: ['account'],
  reads: [
    'models.list',
    'models.retrieve',
    'videos.retrieve',
    'videos.retrieveFromVendor',
    'videos.downloadContent',
  ],
  texts: [
    'chat.completions.create',
    'chat.completions.parse',
    'chat.completions.stream',
    'chat.completions.runTools',
    'responses.create',
    'responses.parse',
    'generate.content',
    'generate.contentStream',
    'generate.runTools',
    'audio.speech.create',
  ],
  uploads: ['audio.transcriptions.create', 'audio.translations.create'],
  embeddings: ['embeddings.create', 'embeddings.createForEngine'],
  manyEmbeddings: ['embeddings.createMany'],
  images: ['images.generate'],
  edits: ['images.edit'],
  manyImages: ['images.generateMany'],
  imageWaits: ['images.wait', 'images.step'],
  submissions: ['videos.create'],
  remixes: ['videos.remix'],
  runs: ['videos.createAndWait'],
  remixRuns: ['videos.remixAndWait'],
  manyRuns: ['videos.createAndWaitAll'],
  videoWaits: ['videos.wait', 'videos.watch', 'videos.step'],
  manyWaits: ['videos.waitAll'],
  routes: ['request'],
} as const;

type Groups = typeof groups;

/**
 * A method that accepts options. `client` is the constructor of a client, `account` any method of the account,
 * and `request` any call by path.
 */
export type Method = Groups[keyof Groups][number];

const many = [...groups.manyImages, ...groups.manyEmbeddings, ...groups.manyRuns] as const;
const videoRuns = [...groups.runs, ...groups.remixRuns, ...groups.manyRuns] as const;
const waits = [...groups.imageWaits, ...groups.videoWaits, ...groups.manyWaits] as const;
const submissions = [...groups.submissions, ...groups.remixes, ...videoRuns] as const;
const images = [...groups.images, ...groups.edits, ...groups.manyImages] as const;

/** Methods whose requests have a body. */
const posts = [
  ...groups.texts,
  ...groups.uploads,
  ...groups.embeddings,
  ...groups.manyEmbeddings,
  ...images,
  ...submissions,
  ...groups.routes,
] as const;

/** Methods that make one or more requests, without those that only wait. */
const requests = [...groups.reads, ...posts] as const;

/** Sets of methods that share options. */
export const methods = {
  ...groups,
  many,
  videoRuns,
  waits,
  images,
  posts,
  requests,
  /** All calls that send requests of their own. */
  calls: [...requests, ...waits],
  /** Methods whose `idempotencyKey` can belong to one request. */
  keyed: [
    ...groups.reads,
    ...groups.texts,
    ...groups.uploads,
    ...groups.embeddings,
    ...groups.images,
    ...groups.edits,
    ...groups.submissions,
    ...groups.remixes,
    ...groups.runs,
    ...groups.remixRuns,
    ...groups.routes,
  ],
  /** Methods whose requests name a model that another one can replace. */
  withFallback: [
    ...groups.texts,
    ...groups.uploads,
    ...images,
    ...groups.submissions,
    ...groups.runs,
    ...groups.manyRuns,
  ],
  withFiles: [...groups.uploads, ...groups.edits, ...submissions],
  submissions,
  withLedger: [...images, ...submissions],
  tasks: [...images, ...videoRuns],
  limited: [...groups.manyWaits, ...groups.manyRuns],
} as const;

const everyMethod: ReadonlySet<string> = new Set(Object.values(groups).flat());

function isMethod(name: string): name is Method {
  return everyMethod.has(name);
}

/** Returns the method of an operation. Requests without a method of their own are calls by path. */
export const methodFor = (operation: string): Method =>
  isMethod(operation) ? operation : 'request';

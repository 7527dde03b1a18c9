import { endpoints, type MethodGroup, type Operation, operations } from '../endpoints.ts';

type OperationIn<Group extends MethodGroup> = {
  [Name in Operation]: (typeof endpoints)[Name]['group'] extends Group ? Name : never;
}[Operation];

/* @__NO_SIDE_EFFECTS__ */
function operationsIn<Group extends MethodGroup>(group: Group): readonly OperationIn<Group>[] {
  return operations.filter((name): name is OperationIn<Group> => endpoints[name].group === group);
}

/**
 * The methods that accept options, in groups whose requests use the same ones: those of the operations, which their
 * rows in `endpoints` assign to a group, and those that make the requests of another one.
 */
const groups = {
  client: ['client'],
  account: ['account'],
  reads: operationsIn('reads'),
  texts: [
    ...operationsIn('texts'),
    'chat.completions.parse',
    'chat.completions.stream',
    'chat.completions.runTools',
    'responses.parse',
    'generate.runTools',
  ],
  uploads: operationsIn('uploads'),
  embeddings: operationsIn('embeddings'),
  manyEmbeddings: ['embeddings.createMany'],
  images: operationsIn('images'),
  edits: operationsIn('edits'),
  manyImages: ['images.generateMany'],
  imageWaits: ['images.wait', 'images.step'],
  submissions: operationsIn('submissions'),
  remixes: operationsIn('remixes'),
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

/** Methods of one request with a body. */
const posted = [
  ...groups.texts,
  ...groups.uploads,
  ...groups.embeddings,
  ...groups.images,
  ...groups.edits,
  ...groups.submissions,
  ...groups.remixes,
  ...groups.routes,
] as const;

/** Methods that make requests and do not wait for a video. */
const attempts = [
  ...groups.reads,
  ...posted,
  ...groups.manyImages,
  ...groups.manyEmbeddings,
] as const;

/** Methods that make one or more requests, without those that only wait. */
const requests = [...attempts, ...videoRuns] as const;

/** Sets of methods that share options. */
export const methods = {
  ...groups,
  many,
  videoRuns,
  waits,
  images,
  /** Methods whose requests have a body. */
  posts: [...posted, ...groups.manyImages, ...groups.manyEmbeddings, ...videoRuns],
  attempts,
  requests,
  /** All calls that send requests of their own. */
  calls: [...requests, ...waits],
  /** Methods whose `idempotencyKey` can belong to one request. */
  keyed: [...groups.reads, ...posted, ...groups.runs, ...groups.remixRuns],
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

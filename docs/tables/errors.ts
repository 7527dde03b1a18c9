/** The page "Error classes": a heading for each class that the package exports. */
import * as client from '../../src/index.ts';
import * as node from '../../src/adapters/node/index.ts';
import type { Outcome } from '../../src/index.ts';

/** What the page says of a class of errors. */
interface ErrorText {
  readonly cause: string;
  /** The outcomes that its errors can have. A test compares them with errors of each class. */
  readonly outcomes: readonly Outcome[];
  /** What a job, or any other program, does about it. */
  readonly job: string;
  /** The fields or the code that it needs for this. */
  readonly code: string;
}

const fix = 'Ends as failed: the same request fails again.';
const taskGoesOn = 'Stores `ref` and waits again. Submitting again pays twice.';
const paid = 'Uses what is there, or ends. A new request is charged again.';
const checkFirst =
  'Calls `account.settle(error)`, and repeats the call only if nothing was charged, or with the same `ledger` and `callId`.';

const any: readonly Outcome[] = ['not_sent', 'rejected', 'unknown'];

const groups: readonly (readonly [title: string, texts: Readonly<Record<string, ErrorText>>])[] = [
  [
    'Base classes',
    {
      GatewayError: {
        cause: 'The class of all errors of this package.',
        outcomes: any,
        job: 'Repeats the call if the `outcome` is `not_sent`, except after `InvalidInputError`, `BudgetError` and `UnsupportedByGatewayError`; after `rejected`, once the cause is fixed; after `unknown`, only with a ledger or after `account.settle(error)`.',
        code: '`outcome`, `advice`, `summary`, `evidence`, `callId`, `unsafeToReplay`; `GatewayError.isInstance(error)`',
      },
      APIError: {
        cause:
          'The call to the gateway failed. By itself, it is a status without a class of its own, such as 408, or an error inside a 200; most classes below extend it.',
        outcomes: any,
        job: 'Decides by `outcome`.',
        code: '`status`, `code`, `type`, `param`, `requestID`, `headers`, `error`',
      },
      OutputError: {
        cause:
          'The base class of errors of `parse()` and `runTools()`: the model answered, and the text cannot be used.',
        outcomes: ['unknown'],
        job: paid,
        code: '`error.completion`, or `error.response` of `responses.parse()`',
      },
    },
  ],
  [
    'Before anything is sent',
    {
      InvalidInputError: {
        cause: 'A parameter or an option is invalid; the message names the fix.',
        outcomes: ['not_sent'],
        job: 'Ends as failed. Repeating it without a change fails for ever, although nothing was sent.',
        code: '`error.field`',
      },
      BudgetError: {
        cause:
          'The [budget](costs.md#a-budget) does not allow the call (`reason: "limit"`), its price is unknown (`"price"`), or `budget.spent()` failed (`"spent"`).',
        outcomes: ['not_sent'],
        job: 'Stops, or waits until the budget is larger. Repeating it at once fails again.',
        code: '`reason`, `limit`, `spent`, `reserved`, `cost`, in US dollars',
      },
      UnsupportedByGatewayError: {
        cause:
          '[This kind of gateway](gateways.md#what-works-where) does not have the operation or the route.',
        outcomes: ['not_sent', 'rejected'],
        job: fix,
        code: '`new Gateway({ gateway })` if the kind is wrong',
      },
      LedgerError: {
        cause:
          'The ledger failed to claim a submission, for example because its database is unreachable. As `_ledger_error` of a result, it failed to record a task that is paid for.',
        outcomes: ['not_sent'],
        job: 'Retries later with the same `callId`. For `_ledger_error`, calls `accept()` again.',
        code: '`await ledger.accept(callId, task.ref)`',
      },
    },
  ],
  [
    'Statuses',
    {
      BadRequestError: {
        cause: '400: the request is malformed, or refers to something that does not exist.',
        outcomes: ['rejected', 'unknown'],
        job: `${fix} After \`prompt_blocked\` the outcome is \`unknown\`: change the prompt.`,
        code: '`code`, `param`',
      },
      AuthenticationError: {
        cause:
          "401: the gateway rejected your key, or the model's provider rejected the gateway's; [`advice`](errors.md#misleading-errors) names which.",
        outcomes: ['rejected'],
        job: 'Stops all jobs of this key.',
        code: '`apiKey: async () => …` is called once more after a 401',
      },
      PaymentRequiredError: {
        cause: '402: payment is required.',
        outcomes: ['rejected'],
        job: 'Stops until the account has credit.',
        code: '`await client.account.balance()`',
      },
      PermissionDeniedError: {
        cause: '403: the key may not do this, or has no credit left (`insufficient_user_quota`).',
        outcomes: ['rejected'],
        job: 'Stops until the key is allowed, or has credit.',
        code: '`code`',
      },
      NotFoundError: {
        cause:
          '404: the route, the model or the resource does not exist; often, `baseURL` is wrong.',
        outcomes: ['rejected'],
        job: fix,
        code: '`npx model-gateway doctor`',
      },
      ConflictError: {
        cause:
          '409: the request conflicts with another one. With `idempotency`, the first attempt is still running, and the client retries.',
        outcomes: ['rejected'],
        job: 'Reads the state of the resource first.',
        code: '`code`',
      },
      RequestTooLargeError: {
        cause: '413: the body is too large for the gateway, or for a proxy in front of it.',
        outcomes: ['rejected'],
        job: fix,
        code: '–',
      },
      UnprocessableEntityError: {
        cause: '422: the request is well formed, and cannot be processed.',
        outcomes: ['rejected'],
        job: fix,
        code: '`param`',
      },
      RateLimitError: {
        cause:
          '429: too many requests, or a quota is used up. The client has retried, unless the limit lasts longer than a minute.',
        outcomes: ['rejected'],
        job: 'Waits, and repeats the call: it was rejected before any work. If a quota is used up (`code`), it stops.',
        code: "`Number(error.headers?.get('retry-after'))`; [`limits`](options-charges.md#limits) avoids it",
      },
      UsageLogLimitError: {
        cause:
          'The usage log was read too often, about 20 times in 20 minutes, by this client or by others behind the same address.',
        outcomes: ['rejected'],
        job: 'Reads the log again after `retryAt`. The call that it was read for is not affected.',
        code: '`error.retryAt`, in milliseconds since 1970',
      },
      InternalServerError: {
        cause: '5xx: the gateway, a proxy or the provider failed.',
        outcomes: ['rejected', 'unknown'],
        job: checkFirst,
        code: '`status`, `code`, `requestID`',
      },
    },
  ],
  [
    'Connections and responses',
    {
      APIConnectionError: {
        cause: 'No response arrived: the connection was refused, reset or cut, or a proxy failed.',
        outcomes: ['not_sent', 'unknown'],
        job: `After \`not_sent\`, repeats the call. Otherwise: ${checkFirst.charAt(0).toLowerCase()}${checkFirst.slice(1)}`,
        code: '`error.evidence.code`, such as `ECONNREFUSED`',
      },
      APIConnectionTimeoutError: {
        cause:
          '`timeout`, `totalTimeout` or a limit of `fetch` passed before the response, or before the headers of a stream.',
        outcomes: ['not_sent', 'unknown'],
        job: `${checkFirst} Gateways finish and bill a call whose client has left.`,
        code: '`error.timeout`, in milliseconds',
      },
      APIUserAbortError: {
        cause: 'The `signal` of the call was aborted.',
        outcomes: ['not_sent', 'unknown'],
        job: 'Ends. The gateway may still finish and bill the call.',
        code: '`cause` is the reason of the signal; `partial` and `usage` of a stream',
      },
      UnexpectedRedirectError: {
        cause:
          'The gateway answered with a redirect that the client does not follow, usually because `baseURL` is wrong. It follows those of reads, and of speech to a file, which it fetches without the key.',
        outcomes: ['rejected', 'unknown'],
        job: 'Ends; `baseURL` has to be fixed.',
        code: "`error.headers?.get('location')`, without its query",
      },
      UnexpectedResponseError: {
        cause:
          'A 2xx response whose body is unusable: a page, cut, empty, or of another shape. With `validation: "strict"`, also one that differs from the types.',
        outcomes: ['unknown', 'rejected'],
        job: 'Keeps `body`, because it may be paid for, and calls `account.settle(error)`.',
        code: '`error.body`, `error.data`, `error.issues`',
      },
      ResponseFailedError: {
        cause: 'A response of the [Responses API](responses.md#failures) has `status: "failed"`.',
        outcomes: ['unknown', 'rejected'],
        job: paid,
        code: '`error.partial`, `error.usage`, `error.code`',
      },
    },
  ],
  [
    'Streams',
    {
      StreamError: {
        cause: 'The gateway sent an error inside a stream.',
        outcomes: any,
        job: paid,
        code: '`error.partial`, `error.usage`',
      },
      StreamTruncatedError: {
        cause:
          'A stream ended [without proof that it is complete](streaming.md#when-is-a-stream-complete).',
        outcomes: ['unknown'],
        job: paid,
        code: '`error.verdict`, `error.partial`',
      },
      StreamTimeoutError: {
        cause: 'A stream exceeded one of its [time limits](streaming.md#time-limits).',
        outcomes: ['unknown'],
        job: paid,
        code: '`error.limit`, `error.timeout`, `error.partial`',
      },
    },
  ],
  [
    'Output of a model',
    {
      InvalidOutputError: {
        cause:
          'The text, or the arguments of a tool call, are not JSON or do not match the schema.',
        outcomes: ['unknown'],
        job: `${paid} Another request may give another result.`,
        code: '`error.issues`, `error.completion`',
      },
      LengthFinishReasonError: {
        cause: 'The output was cut at the token limit.',
        outcomes: ['unknown'],
        job: 'Repeats the call with a higher limit, which is charged again.',
        code: '`max_tokens`, `max_completion_tokens`',
      },
      ContentFilterFinishReasonError: {
        cause: 'A content filter stopped the output.',
        outcomes: ['unknown'],
        job: 'Ends, or changes the prompt.',
        code: '`error.completion`',
      },
      FunctionCallFinishReasonError: {
        cause:
          'In `generate.runTools()`, the model wrote an invalid function call, or called a function that is not allowed. No function of that response ran.',
        outcomes: ['unknown'],
        job: paid,
        code: '`error.responses`, all of the run',
      },
      PartialEmbeddingsError: {
        cause: 'Some requests of `embeddings.createMany()` failed.',
        outcomes: any,
        job: 'Embeds only the inputs without a vector.',
        code: '`error.vectors[index] === undefined`, `error.failed`',
      },
    },
  ],
  [
    'Tasks',
    {
      VideoSubmitUnknownError: {
        cause:
          'A video was submitted, and may have been accepted: the response was lost, or a ledger has a call whose outcome is unknown.',
        outcomes: ['unknown'],
        job: 'If `isInProgress`, retries later with the same `callId`. Otherwise a person, or `onUnknown: "settle"`, checks the account. Without a ledger, there is no handle, and gateways cannot list tasks.',
        code: '`error.isInProgress`, `error.callId`, `await client.account.settle(error)`',
      },
      ImageSubmitUnknownError: {
        cause:
          'According to the ledger, the call for images was sent before, with an unknown outcome.',
        outcomes: ['unknown'],
        job: 'The same as after `VideoSubmitUnknownError`.',
        code: '`error.isInProgress`, `error.callId`',
      },
      VideoSubmitResponseError: {
        cause: 'The task was created, and `validation: "strict"` rejected the response.',
        outcomes: ['unknown'],
        job: taskGoesOn,
        code: '`await client.videos.wait(error.ref)`',
      },
      VideoFailedError: {
        cause: 'The gateway reports that the task failed. It was charged when it was accepted.',
        outcomes: ['unknown'],
        job: 'Ends as failed; `account.settle(error)` shows the refund. A ledger never submits a failed task again.',
        code: '`error.reason`, `error.code`, `error.moderated`, `error.raw`, `error.ref`',
      },
      ImageFailedError: {
        cause: 'The same for images that are made as a task.',
        outcomes: ['unknown'],
        job: 'The same as after `VideoFailedError`.',
        code: '`error.reason`, `error.ref`',
      },
      VideoWaitError: {
        cause: 'A wait ended before its task did: polls failed, or a callback threw.',
        outcomes: ['unknown'],
        job: taskGoesOn,
        code: '`await client.videos.wait(error.ref)`',
      },
      VideoWaitTimeoutError: {
        cause: 'The `timeout` of the wait passed. The task continues.',
        outcomes: ['unknown'],
        job: taskGoesOn,
        code: '`await client.videos.wait(error.ref)`',
      },
      VideoWaitAbortedError: {
        cause: 'The `signal` of the wait was aborted. The task continues.',
        outcomes: ['unknown'],
        job: taskGoesOn,
        code: '`await client.videos.wait(error.ref)`',
      },
      ImageWaitError: {
        cause:
          'A wait for images ended before its task did, or the ledger has a call whose images were returned before and are not stored.',
        outcomes: ['unknown'],
        job: taskGoesOn,
        code: '`await client.images.wait(error.ref)`',
      },
      ImageWaitTimeoutError: {
        cause: '`taskTimeout`, or the `timeout` of `images.wait()`, passed. The task continues.',
        outcomes: ['unknown'],
        job: taskGoesOn,
        code: '`await client.images.wait(error.ref)`',
      },
      ImageWaitAbortedError: {
        cause: 'The `signal` of the wait was aborted. The task continues.',
        outcomes: ['unknown'],
        job: taskGoesOn,
        code: '`await client.images.wait(error.ref)`',
      },
      ContentNotReadyError: {
        cause: 'A video was downloaded before its task was completed.',
        outcomes: ['rejected', 'unknown'],
        job: 'Waits, and downloads again. Downloads are free.',
        code: '`await client.videos.wait(ref)`',
      },
      ContentUnavailableError: {
        cause:
          'The content route did not return the completed video, and neither did the URL in its task. The video is paid for.',
        outcomes: any,
        job: 'Fetches `url` in another way, tries again later, or asks the operator. Never submits again.',
        code: '`error.url`',
      },
      ContentExpiredError: {
        cause: '410: the gateway has deleted the video.',
        outcomes: any,
        job: 'Ends as failed. Download videos soon after they are completed.',
        code: '`error.url`',
      },
      FileError: {
        cause:
          'Of `model-gateway/node`: a file cannot be written, for example because the disk is full.',
        outcomes: ['unknown'],
        job: 'Frees space, and downloads again, which is free. Speech and images in a response have to be kept first.',
        code: '`error.code`, such as `ENOSPC`; `error.path`',
      },
    },
  ],
];

/** Every class that the package exports, by its name. */
const exported: ReadonlySet<string> = new Set(
  Object.entries({ ...node, ...client }).flatMap(([name, value]) =>
    typeof value === 'function' && 'kind' in value && value.kind === name ? [name] : [],
  ),
);

/** The texts of all classes. */
export const errorTexts: ReadonlyMap<string, ErrorText> = new Map(
  groups.flatMap(([, texts]) => Object.entries(texts)),
);

function parentOf(name: string): string | undefined {
  const found: unknown = Reflect.get({ ...node, ...client }, name);
  if (typeof found !== 'function') return undefined;
  const parent: unknown = Reflect.get(Object.getPrototypeOf(found) ?? {}, 'kind');
  return typeof parent === 'string' && exported.has(parent) ? parent : undefined;
}

/** The page of error classes below its introduction. */
export function errorHeadings(): string {
  const missing = [...exported].filter((name) => !errorTexts.has(name));
  const unknown = [...errorTexts.keys()].filter((name) => !exported.has(name));
  if (missing.length + unknown.length > 0) {
    throw new Error(
      `docs/tables/errors.ts lacks ${missing.join()}; has no class ${unknown.join()}`,
    );
  }
  return groups
    .flatMap(([title, texts]) => [
      `## ${title}`,
      ...Object.entries(texts).flatMap(([name, { cause, outcomes, job, code }]) => {
        const parent = parentOf(name);
        const kind =
          parent === undefined ? [] : [`- Extends: [\`${parent}\`](#${parent.toLowerCase()})`];
        return [
          `### \`${name}\``,
          cause,
          [
            `- Outcome: ${outcomes.map((word) => `\`${word}\``).join(', ')}`,
            `- A job: ${job}`,
            `- Code: ${code}`,
            ...kind,
          ].join('\n'),
        ];
      }),
    ])
    .join('\n\n');
}

/** The classes in a line for each group, with links to their headings. */
export function errorIndex(): string {
  return groups
    .map(([title, texts]) => {
      const links = Object.keys(texts).map(
        (name) => `[\`${name}\`](error-classes.md#${name.toLowerCase()})`,
      );
      return `- ${title}: ${links.join(', ')}`;
    })
    .join('\n');
}

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import {
  acceptedContent,
  inputRequired,
  inputResponse,
  isInputRequiredResult,
  McpServer,
  object,
  boolean,
  ResourceTemplate,
  type InputRequiredResult,
  type ServerContext,
} from '#mcp-sdk';
import { toFields } from '../../answers/objects.ts';
import { ToolError } from './tools/errors.ts';
import type { InputRules } from './tools/inputs.ts';
import { registerFreeTools } from './tools/free-tools.ts';
import { type Confirm, type PaidCall, PaidCalls } from './tools/paid-calls.ts';
import {
  prepareEdit,
  prepareImage,
  prepareSpeech,
  prepareTranscription,
  prepareVideo,
  type PreparedCall,
} from './tools/prepare.ts';
import type { ServerParts } from './tools/parts.ts';
import { toResult, toURI } from './tools/results.ts';
import { createSchemas, jobOutput } from './tools/schemas.ts';
import { type Answer, answer, progressNotifier } from './tools/tool-call.ts';
import { openWorkspace, type Workspace } from './tools/workspace.ts';

const instructions = `Creates images, speech and videos, and charges the user's account for them.
Each call is paid for once: the same tool with the same arguments returns the existing result, also after a time-out, a crash or a restart. So repeat a call that failed or timed out with unchanged arguments. Pass "again" only if the user wants another result.
create_video returns at once; call wait_video until the video is saved. Results are files; their paths are in the result.`;

const annotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
};

const config = <Schema>(title: string, description: string, inputSchema: Schema) => ({
  title,
  description,
  inputSchema,
  outputSchema: jobOutput,
  annotations: { title, ...annotations },
});

const confirmation = object({ confirm: boolean().meta({ title: 'Make the call' }) });

/** Serves the tools to one connection, or to one request over HTTP. */
class Connection {
  readonly #parts: ServerParts;
  readonly #calls: PaidCalls;
  readonly #server: McpServer;
  /** `true` if one client keeps the connection, so that its roots can be remembered. */
  readonly #isLasting: boolean;
  #workspace: Workspace | undefined;

  constructor(parts: ServerParts, calls: PaidCalls, isLasting: boolean) {
    this.#parts = parts;
    this.#calls = calls;
    this.#isLasting = isLasting;
    this.#server = new McpServer(
      { name: 'model-gateway', title: 'AI gateway', version: parts.version },
      { instructions },
    );
  }

  #capabilities({ mcpReq }: ServerContext) {
    // Clients of 2026 send them with each request, earlier ones once.
    const inRequest = toFields(mcpReq.envelope)['io.modelcontextprotocol/clientCapabilities'];
    return toFields(inRequest ?? this.#server.server.getClientCapabilities());
  }

  /** Returns the workspace, or the question for the folders of the client. */
  #openWorkspace(context: ServerContext): Workspace | InputRequiredResult {
    if (this.#workspace !== undefined) return this.#workspace;
    const { workspace } = this.#parts;
    const hasRoots = this.#capabilities(context)['roots'] !== undefined;
    let roots: readonly string[] = [];
    if (this.#isLasting && workspace.roots.length === 0 && hasRoots) {
      const response = inputResponse(context.mcpReq.inputResponses, 'roots');
      if (response.kind === 'missing') {
        return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
      }
      if (response.kind === 'roots') roots = response.roots.map(({ uri }) => uri);
    }
    const opened = openWorkspace(workspace, roots);
    if (this.#isLasting) this.#workspace = opened;
    return opened;
  }

  /** Returns the answer of the user to the question before an expensive call. */
  #confirm(context: ServerContext): Confirm {
    const { inputResponses } = context.mcpReq;
    return () => {
      const response = inputResponse(inputResponses, 'confirm');
      if (response.kind === 'missing') {
        return this.#capabilities(context)['elicitation'] === undefined ? 'impossible' : 'ask';
      }
      const content = acceptedContent(inputResponses, 'confirm', confirmation);
      return content?.confirm === true ? 'accepted' : 'declined';
    };
  }

  /** Makes a paid call, and returns its result or its state after the time limit. */
  #pay(
    context: ServerContext,
    options: Parameters<PaidCalls['make']>[1],
    prepare: (rules: InputRules) => Promise<PreparedCall>,
    untilSubmitted = false,
  ): Promise<Answer> {
    const { wait: timeout, inline, store } = this.#parts;
    return answer(async () => {
      const workspace = this.#openWorkspace(context);
      if (isInputRequiredResult(workspace)) return workspace;
      const notify = progressNotifier(context);
      const call: PaidCall = await this.#calls.make(
        await prepare({ ...workspace, isResult: (path) => store.hasResult(path) }),
        options,
        workspace,
        this.#confirm(context),
        {
          timeout,
          signal: context.mcpReq.signal,
          untilSubmitted,
          onProgress: notify && (({ state, status }, seconds) => notify(status ?? state, seconds)),
        },
      );
      if (call.question === undefined) return toResult(call.record, call.reused, inline);
      return inputRequired({
        inputRequests: {
          confirm: inputRequired.elicit({
            message: call.question,
            requestedSchema: confirmation,
          }),
        },
      });
    });
  }

  /** Registers the tools whose kind of call is allowed. */
  create(): McpServer {
    const { allowed, defaultModels } = this.#parts;
    const server = this.#server;
    const schemas = createSchemas(defaultModels);
    if (allowed.has('image')) {
      server.registerTool(
        'create_image',
        config(
          'Create images',
          'Creates images from a prompt and saves them as files. Charged per image. Usually takes 5 to 60 seconds. If it takes longer than the time limit, it returns the state "running": call wait_video with the call_id.',
          schemas.create_image,
        ),
        (args, context) => this.#pay(context, args, () => prepareImage(args)),
      );
      server.registerTool(
        'edit_image',
        config(
          'Edit images',
          'Changes images as described and saves the result as new files. Charged per image. Usually takes 5 to 60 seconds.',
          schemas.edit_image,
        ),
        (args, context) => this.#pay(context, args, (rules) => prepareEdit(args, rules)),
      );
    }
    if (allowed.has('speech')) {
      server.registerTool(
        'create_speech',
        config(
          'Create speech',
          'Turns text into speech and saves it as an audio file. Charged by the length of the text. Usually takes seconds.',
          schemas.create_speech,
        ),
        (args, context) => this.#pay(context, args, () => prepareSpeech(args)),
      );
    }
    if (allowed.has('transcription')) {
      server.registerTool(
        'transcribe_audio',
        config(
          'Transcribe audio',
          'Returns the text of a recording. Charged by its length. Usually takes seconds.',
          schemas.transcribe_audio,
        ),
        (args, context) => this.#pay(context, args, (rules) => prepareTranscription(args, rules)),
      );
    }
    if (allowed.has('video')) {
      server.registerTool(
        'create_video',
        config(
          'Create a video',
          'Submits a video and returns its call_id within seconds. Charged, usually by the second. Takes minutes: call wait_video until the file is saved.',
          schemas.create_video,
        ),
        (args, context) => this.#pay(context, args, (rules) => prepareVideo(args, rules), true),
      );
    }
    registerFreeTools(server, schemas, this.#parts);
    this.#registerResources();
    return server;
  }

  /** Lets clients without access to the disk read the results. */
  #registerResources(): void {
    const { store } = this.#parts;
    const listFiles = async () => (await store.list()).flatMap(({ files }) => files).slice(0, 100);
    const list = async () => ({
      resources: (await listFiles()).map((file) => ({
        uri: toURI(file),
        name: file.path,
        mimeType: file.mimeType,
      })),
    });
    this.#server.registerResource(
      'result',
      new ResourceTemplate('file:///{+path}', { list }),
      { title: 'Results', description: 'Files that the tools have saved.' },
      async (uri) => {
        const file = (await listFiles()).find((saved) => toURI(saved) === uri.href);
        if (file === undefined) throw new ToolError(`${uri.href} is not a result of these tools.`);
        const blob = await readFile(fileURLToPath(uri), 'base64');
        return { contents: [{ uri: uri.href, mimeType: file.mimeType, blob }] };
      },
    );
  }
}

/**
 * Returns a function that creates the MCP server of a connection.
 *
 * @param isLasting - `true` if one client keeps the connection, as over stdio.
 */
export function createServerFactory(parts: ServerParts, isLasting: boolean): () => McpServer {
  const calls = new PaidCalls(parts);
  return () => new Connection(parts, calls, isLasting).create();
}

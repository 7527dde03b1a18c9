// Builds a copy of the recipe as the build step of a server does: `build.ts <folder>`.
import { StandaloneBuilder } from '@workflow/builders';

const builder = new StandaloneBuilder({
  buildTarget: 'standalone',
  dirs: ['.'],
  workingDir: process.argv[2] ?? '',
  stepsBundlePath: 'step.cjs',
  workflowsBundlePath: 'flow.cjs',
  webhookBundlePath: 'webhook.cjs',
  externalPackages: ['model-gateway', 'pg'],
  suppressCreateWorkflowsBundleLogs: true,
});
await builder.build();

import tab from '@bomb.sh/tab/commander';
import type { Command } from 'commander';
import { withExamples } from './command.ts';

const completionName = 'completion';

/**
 * The script for bash. That of the library evaluates the words of the line, requires the package
 * bash-completion, and completes no files.
 */
const bashScript = `# bash completion for model-gateway
_model_gateway() {
  local candidate
  COMPREPLY=()
  while IFS=$'\\t' read -r candidate _; do
    [[ $candidate == :* ]] || COMPREPLY+=("$candidate")
  done < <(model-gateway complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _model_gateway model-gateway`;

/** Calls a function that prints to the console, and returns its lines. */
function captureLines(print: () => void): string[] {
  const { log } = console;
  const lines: string[] = [];
  console.log = (line: string) => lines.push(line);
  try {
    print();
  } finally {
    console.log = log;
  }
  return lines;
}

/** Adds `completion`, which prints a script, and the hidden `complete`, which the script calls. */
export function addCompletion(program: Command): void {
  const name = program.name();
  const completions = tab(program, { completionCommandName: completionName });
  for (const command of program.commands) {
    if (command.name() === completionName) {
      withExamples(command.description('Print a script that completes commands and options.'), [
        'source <(model-gateway completion bash)',
        'eval "$(model-gateway completion zsh)"',
        'model-gateway completion fish | source',
      ]).action((shell: string) => {
        const lines =
          shell === 'bash'
            ? [bashScript]
            : captureLines(() => completions.setup(name, name, shell));
        process.stdout.write(`${lines.join('\n')}\n`);
      });
    }
    if (command.name() === 'complete') {
      command.action((words: readonly string[]) => {
        const lines = captureLines(() => completions.parse([...words]));
        // The last line says whether the shell may complete files. The library never lets it.
        const hasCandidates = lines.length > 1;
        process.stdout.write(hasCandidates ? `${lines.join('\n')}\n` : ':0\n');
      });
    }
  }
}

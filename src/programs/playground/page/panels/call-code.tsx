import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { toCurl, toTypeScript, type CodedCall } from '../code.ts';
import { Choice } from '../fields.tsx';
import { CopyButton } from '../parts.tsx';
import { recalled, remember } from '../route.ts';
import { hello } from '../state.ts';
import { Code } from '../text/code.tsx';

type Language = 'ts' | 'curl';

/** A call as TypeScript or as a curl command. */
export function CallCode({ call }: { call: CodedCall }): JSX.Element {
  const language: Language = recalled('as', 'ts') === 'curl' ? 'curl' : 'ts';
  const code = language === 'ts' ? toTypeScript(call, hello.value) : toCurl(call, hello.value);
  return (
    <div class="call-code">
      <div class="row tight spread">
        <Choice<Language>
          label="Code"
          value={language}
          options={[
            ['ts', 'TypeScript'],
            ['curl', 'curl'],
          ]}
          onChange={(value) => remember('as', value === 'curl' ? 'curl' : '')}
        />
        <CopyButton label="Copy code" text={() => code} />
      </div>
      <pre tabIndex={0} dir="ltr" aria-label="The call as code">
        <Code text={code} language={language === 'ts' ? 'ts' : 'bash'} />
      </pre>
    </div>
  );
}

/** The code of a call, shown on request. */
export function CodeDetails({
  call,
  label,
}: {
  call: () => CodedCall;
  label: string;
}): JSX.Element {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details class="code-details" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>{label}</summary>
      {isOpen ? <CallCode call={call()} /> : null}
    </details>
  );
}

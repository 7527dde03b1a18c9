/**
 * Writes the parts of documents that follow from the source, the bench and the licences, between their markers:
 *
 *   node docs/tables/write.ts && npx oxfmt
 *
 * `test/docs.test.ts` fails if a document has an old one.
 */
import measuredCharges from '../../bench/results/duplicates.json' with { type: 'json' };
import { chargesByPackage } from '../../bench/report/readme.ts';
import { chargesTable } from './charges.ts';
import { errorHeadings, errorIndex } from './errors.ts';
import { sizeOf } from './figures.ts';
import { flagTables } from './flags.ts';
import { classTable, operationsTable, outputList } from './operations.ts';
import { optionHeadings, optionsIndex, pageNames } from './options.ts';
import { describeBundled } from './packages.ts';
import { type Section, writeSection } from './section.ts';

const guide = (name: string): string => `docs/guides/${name}.md`;

/** Every generated part of a document. */
export const sections: readonly Section[] = [
  { page: 'README.md', name: 'charges', render: () => chargesByPackage(measuredCharges) },
  { page: guide('what-you-may-be-charged'), name: 'failures', render: chargesTable },
  { page: guide('what-you-may-be-charged'), name: 'outputs', render: outputList },
  { page: guide('retries-and-charges'), name: 'classes', render: classTable },
  { page: guide('operations'), name: 'operations', render: operationsTable },
  { page: guide('options'), name: 'options', render: optionsIndex },
  ...pageNames.map((page) => ({
    page: guide(page),
    name: 'options',
    render: () => optionHeadings(page),
  })),
  { page: guide('errors'), name: 'classes', render: errorIndex },
  { page: guide('error-classes'), name: 'classes', render: errorHeadings },
  { page: guide('command-line-options'), name: 'flags', render: flagTables },
  {
    page: guide('streaming'),
    name: 'size',
    isInline: true,
    render: () => sizeOf('bundle.stream'),
  },
  { page: 'docs/SECURITY.md', name: 'packages', isInline: true, render: describeBundled },
];

if (import.meta.main) {
  // One after the other, because several may be in one document.
  for (const section of sections) await writeSection(section);
}

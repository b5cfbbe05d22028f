import { findsBugs } from './directories-planted.ts'

findsBugs([
  {
    bug: 'programs are run in every guest that carries the mark',
    changes: [['src/engine/clusters/surroundings.ts', 'if (proof === undefined) continue', '']],
    found: /sent .*agent\/exec.* is [abcd]-/,
    seed: 1,
  },
  {
    bug: 'absence is proof',
    changes: [
      ['src/plan/things/proof.ts', 'if (record !== undefined && isDeclaredHere(record, sources))', "if (key !== '')"],
      [
        'src/plan/things/proof.ts',
        "record.declaredBy ?? 'this directory' }",
        "record?.declaredBy ?? 'this directory' }",
      ],
    ],
    found: /sent .* is [abcd]-|without a record or a commit/,
    seed: 1,
  },
])

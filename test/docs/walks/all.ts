import { commandsOf } from '../printed.ts'
import type { TypedIn, Walk } from '../reader.ts'
import { COMMAND_LINE } from './command-line.ts'
import { CONTROLLER } from './controller.ts'
import { HOSTS } from './hosts.ts'
import { IMPORTS } from './imports.ts'
import { OPERATOR } from './operator.ts'
import { RELEASE } from './release.ts'
import { README, SIMULATOR } from './simulator.ts'

export const WALKS: readonly Walk[] = [README, SIMULATOR, COMMAND_LINE, CONTROLLER, OPERATOR, HOSTS, IMPORTS, RELEASE]

/** Pages with a test of their own. */
export const OWN_TESTS: Readonly<Record<string, string>> = {
  'docs/first-cluster.md': 'test/docs/commands.test.ts',
  'docs/day-two.md': 'test/docs/commands.test.ts',
  'docs/leaving.md': 'test/docs/leaving.test.ts',
  'docs/from-crossplane.md': 'test/docs/from-crossplane.test.ts',
}

const BENCH = 'measures for minutes, and says nothing about right and wrong'
const LANE = 'a run of tests of its own, of minutes to days'
const SOPS: TypedIn = { test: 'test/clients/sops.ts', as: "commandsOf('docs/secrets.md')" }

/** Pages without a walk: which tests that are no walks type what they print. */
export const TYPED_IN: Readonly<Record<string, Readonly<Record<string, TypedIn>>>> = {
  'CONTRIBUTING.md': {
    'npm test': { test: '.ci/run', as: 'npm test' },
    'node_modules/.bin/biome check --write src/plan': { test: 'test/docs/contributing.test.ts', as: 'biome' },
    'npm run test:real': { test: 'scripts/test.ts', as: "scripts['test:real']" },
  },
  'docs/secrets.md': Object.fromEntries(commandsOf('docs/secrets.md').map(({ name }) => [name, SOPS])),
}

/** Commands that no test can type as they are printed, by page: why, and which test does the same in another way. */
export const LEFT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'CONTRIBUTING.md': {
    'node bin/run scripts/test.ts src/store': 'the same tests again: npm test has run them',
    'npm run check': 'the same checks again: npm test begins with them',
    'npm run test:all': 'the same tests again: .ci/run runs npm test, and then the rest of it',
    'npm run test:k3s': LANE,
    'npm run test:clients': LANE,
    'npm run test:long': LANE,
    'npm run test:explorer': LANE,
    'npm run test:mutants -- --sample 20 --seed 1': LANE,
    'CROFT_SEEDS=10 npm run test:long': LANE,
  },
  'docs/performance.md': {
    'npm run bench': BENCH,
    'npm run bench -- --runs 10 --sizes 100,1000': BENCH,
    'npm run bench:apply': BENCH,
    'CROFT_BENCH_TOFU=/opt/tofu CROFT_BENCH_BPG=/opt/bpg npm run bench:apply -- --sizes 100': BENCH,
    'npm run bench:operator': BENCH,
    'npm run bench:operator -- --sizes 2500,5000,10000 --connections 100': BENCH,
  },
}

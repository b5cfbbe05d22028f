import type { Walk } from '../reader.ts'
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
  'docs/from-crossplane.md': 'test/docs/from-crossplane.test.ts',
}

const BENCH = 'measures for minutes, and says nothing about right and wrong'
const NPM = 'the tests themselves'
const REBUILT = 'every machine lost, and a share that is not: test/simulation/cluster-rebuilt.test.ts'
const SOPS = 'programs of others: test/binary/secrets.test.ts reads what they write'

/** Commands that no test can type as they are printed, by page: why, and which test does the same in another way. */
export const LEFT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'CONTRIBUTING.md': {
    'npm test': NPM,
    'node bin/run scripts/test.ts src/store': NPM,
    'npm run check': NPM,
    'npm run test:k3s': NPM,
    'npm run test:real': NPM,
    'npm run test:clients': NPM,
    'npm run test:long': NPM,
    'npm run test:mutants -- --sample 20 --seed 1': NPM,
    'CROFT_SEEDS=10 npm run test:long': NPM,
    'node_modules/.bin/biome check --write src/plan': NPM,
  },
  'docs/performance.md': {
    'npm run bench': BENCH,
    'npm run bench -- --runs 10 --sizes 100,1000': BENCH,
    'npm run bench:apply': BENCH,
    'CROFT_BENCH_TOFU=/opt/tofu CROFT_BENCH_BPG=/opt/bpg npm run bench:apply -- --sizes 100': BENCH,
    'npm run bench:operator': BENCH,
    'npm run bench:operator -- --sizes 2500,5000,10000 --connections 100': BENCH,
  },
  'docs/k3s.md': {
    'git clone https://git.example/me/home.git infra': REBUILT,
    'export SOPS_AGE_KEY_FILE=~/key.txt': REBUILT,
    'croft apply infra/': REBUILT,
    'croft cluster restore homelab "$SNAPSHOT" --server k3s-1 --dir infra/': REBUILT,
  },
  'docs/secrets.md': {
    'age-keygen -o age.txt': SOPS,
    [`sops --age "$(age-keygen -y age.txt)" --encrypt --encrypted-regex '^(data|stringData)$' --in-place secrets/users.yaml`]:
      SOPS,
  },
}

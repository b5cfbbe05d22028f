import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** `first`: `npm test`, over in ten minutes. `rest`: what `npm run test:all` runs beside it. Each file is in one of them. */
export type TestSet = 'first' | 'rest'

const ROOT = dirname(import.meta.dirname)
const PATTERNS = ['src/**/*.test.ts', 'sim/**/*.test.ts', 'test/**/*.test.ts']

/** The set of a folder. A file belongs to the folder with the longest name that it lies in. */
export const FOLDERS: Readonly<Record<string, TestSet>> = {
  src: 'first',
  sim: 'first',
  test: 'first',
  'test/binary': 'rest',
  'test/browser': 'rest',
  'test/clients': 'rest',
  'test/docs': 'rest',
  'test/explorer/one-fault': 'rest',
  'test/install': 'rest',
  'test/real-ssh': 'rest',
  'test/simulation': 'rest',
}

/** Files that are in the other set than their folder, by the reason. */
const BY_REASON: Readonly<Record<string, readonly string[]>> = {
  "a story: a cluster's life, with a server lost, an agent replaced and an upgrade": [
    'test/simulation/cluster-lifecycle',
  ],
  'a story: a restore of everything': ['test/simulation/cluster-restore'],
  'a story: a cluster goes off and comes back': ['test/simulation/power'],
  'a story: an add-on': ['test/simulation/addons'],
  'a story: the page in Chromium': ['test/browser/page'],
  'a story: the binary, killed at any moment': ['test/binary/kill'],
  'a story: a reader types what the pages say': ['test/docs/leaving'],
  'a story: an installed package': ['test/install/libraries'],
  'it found the most bugs': [
    'test/simulation/deletion-proof',
    'test/simulation/directories',
    'test/simulation/f01-crash',
    'test/simulation/f09-absence',
    'test/simulation/f11-taken-id',
    'test/simulation/f17-state-not-tasks',
    'test/simulation/placement',
    'test/simulation/plan-is-pass',
    'test/simulation/seed',
    'test/simulation/t04-order',
  ],
  'it reads what the pages print, and starts nothing': [
    'test/docs/blocks',
    'test/docs/command-lines',
    'test/docs/contributing',
    'test/docs/every-command',
    'test/docs/fault-table',
    'test/docs/index',
    'test/docs/requirements',
    'test/docs/troubleshooting',
  ],
  'it judges words and colours of the page, without a browser': [
    'test/browser/chapter-courses',
    'test/browser/cluster-words',
    'test/browser/contrast',
    'test/browser/cron-words',
    'test/browser/event-time',
    'test/browser/headline',
    'test/browser/plan-words',
  ],
  'it takes more than ten seconds, in a simulated world or with a program started again and again': [
    'src/cli/bin',
    'src/cli/import/settings',
    'src/controller/wishes/consent',
    'src/drivers/k3s/operations',
    'src/drivers/k3s/refused-joins',
    'src/drivers/k3s/simulated',
    'src/drivers/proxmox/doctor/least-role',
    'src/k3s/node-program',
    'src/operator/move/move',
    'src/operator/own-apis/own-apis',
    'src/plan/clusters/mutants',
    'src/source/apart/expressions',
    'src/source/apart/reader',
    'src/source/foreign/ansible/ansible',
    'test/power-sites',
  ],
  'it packs a whole release': ['test/release'],
  'it needs programs that are not on every computer': [
    'sim/kubernetes/kubectl',
    'src/cli/completion',
    'src/cloudinit/iso',
    'src/cloudinit/render',
    'src/controller/sources/git-access',
    'src/drivers/libvirt/places',
    'src/drivers/libvirt/snapshots',
    'src/drivers/libvirt/test-driver',
    'src/drivers/power/nut',
    'src/kinds/cluster/user-data',
    'src/ssh/connect',
    'src/ssh/shell',
    'src/k3s/node-shells',
    'test/shell-programs',
  ],
}

/** Files that are in the other set than their folder, with the reason. */
export const EXCEPTIONS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(BY_REASON).flatMap(([reason, names]) => names.map((name) => [`${name}.test.ts`, reason])),
)

export function testFiles(): readonly string[] {
  return globSync(PATTERNS, { cwd: ROOT })
}

export function setOf(file: string): TestSet {
  const folder = folderOf(file)
  const usual = FOLDERS[folder] as TestSet
  if (!(file in EXCEPTIONS)) return usual
  return usual === 'first' ? 'rest' : 'first'
}

/**
 * Reports whether a run with these options has the file. `rest` wins over `all`: `npm run test:all -- --rest` gives both,
 * and must not repeat what `npm test` has just run.
 */
export function isInRun(file: string, run: Readonly<Record<'all' | 'rest' | 'long', boolean>>): boolean {
  if (run.long) return true
  if (run.rest) return setOf(file) === 'rest'
  return run.all || setOf(file) === 'first'
}

function folderOf(file: string): string {
  let folder = dirname(file)
  while (!(folder in FOLDERS) && folder !== '.') folder = dirname(folder)
  if (folder === '.') throw new Error(`test/sets.ts: ${file} lies in no folder of FOLDERS`)
  return folder
}

/** What a file that is not listed takes on average. */
const SHORT_SECONDS = 0.6

export const SECONDS_FILE = join(import.meta.dirname, 'seconds.json')

let seconds: Readonly<Record<string, number>> | undefined

/** How much processor time a file took when that was last written down. Files that are not listed are short. */
export function expectedSeconds(file: string): number {
  seconds ??= JSON.parse(readFileSync(SECONDS_FILE, 'utf8')) as Readonly<Record<string, number>>
  return seconds[file] ?? SHORT_SECONDS
}

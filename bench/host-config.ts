import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { fortyItems } from '../test/real-ssh/forty-items.ts'
import { hostsYaml } from '../test/real-ssh/keep.ts'
import { type Lab, labMissing, openLab } from '../test/real-ssh/lab.ts'
import { playbook } from './host-config-playbook.ts'

/**
 * The same forty items on the same three hosts, kept by croft and by Ansible. croft puts them in place; Ansible must
 * then find nothing to change, which is how the results are seen to be the same. Measured is the second run, in which
 * nothing changes, each time the whole program from its start to its end.
 */
const RUNS = Number(process.argv[2] ?? 3)
const WANTED_FACTOR = 10

const missing = labMissing() ?? ansibleMissing()
if (missing !== undefined) {
  console.log(`not measured: it ${missing}`)
  process.exit(0)
}
const lab = await openLab(['cow', 'sheep', 'duck'])
try {
  process.exitCode = measure(lab)
} finally {
  await lab.close()
}

function measure(one: Lab): number {
  const git = join(one.directory, 'git')
  mkdirSync(git)
  writeFileSync(join(git, 'hosts.yaml'), hostsYaml(one))
  writeFileSync(join(git, 'config.yaml'), fortyItems('lab', '{labels: {lab: "yes"}}'))
  writeAnsible(one)
  const croft = () => run(one, croftWords(git))
  const ansible = () => run(one, ansibleWords(one))

  const first = croft()
  console.log(`croft, first run: ${seconds(first.ms)}`)
  const same = ansible()
  const changed = [...same.stdout.matchAll(/changed=(\d+)/g)].map(([, count]) => Number(count))
  const failed = [...same.stdout.matchAll(/failed=(\d+)/g)].map(([, count]) => Number(count))
  if (changed.length !== one.hosts.length || changed.some((count) => count > 0) || failed.some((count) => count > 0)) {
    console.log(same.stdout, same.stderr)
    console.log('the results are not the same')
    return 1
  }
  console.log(`Ansible finds nothing to change on ${changed.length} hosts: the results are the same`)

  const times = { croft: [] as number[], ansible: [] as number[] }
  for (let time = 0; time < RUNS; time++) {
    times.croft.push(croft().ms)
    times.ansible.push(ansible().ms)
    console.log(`croft ${seconds(times.croft.at(-1) ?? 0)}, Ansible ${seconds(times.ansible.at(-1) ?? 0)}`)
  }
  const [ours, theirs] = [median(times.croft), median(times.ansible)]
  const factor = theirs / ours
  console.log(
    `nothing to change, median of ${RUNS}: croft ${seconds(ours)}, Ansible ${seconds(theirs)}: ${factor.toFixed(1)} times`,
  )
  return factor >= WANTED_FACTOR ? 0 : 1
}

function croftWords(git: string): readonly string[] {
  return [
    process.execPath,
    join(import.meta.dirname, '../bin/croft'),
    'apply',
    git,
    '--yes',
    '--progress',
    'quiet',
    '--state',
    join(git, '..', 'croft.db'),
  ]
}

function ansibleWords(one: Lab): readonly string[] {
  return [
    join(venv(), 'bin/ansible-playbook'),
    '-i',
    join(one.directory, 'inventory'),
    join(one.directory, 'playbook.yaml'),
  ]
}

/** As fast as its own documentation says it can be: pipelining, kept connections, no facts, all hosts at once. */
function writeAnsible(one: Lab): void {
  const known = join(one.directory, 'known_hosts')
  writeFileSync(known, one.hosts.map(({ address, hostKey }) => `${address} ${hostKey}\n`).join(''))
  writeFileSync(
    join(one.directory, 'inventory'),
    `[all]\n${one.hosts.map(({ name, address }) => `${name} ansible_host=${address} ansible_user=root ansible_ssh_private_key_file=${one.key} ansible_python_interpreter=/usr/bin/python3\n`).join('')}`,
  )
  writeFileSync(
    join(one.directory, 'ansible.cfg'),
    `[defaults]\nforks = 10\ngathering = explicit\nhost_key_checking = True\n[ssh_connection]\npipelining = True\nssh_args = -o ControlMaster=auto -o ControlPersist=60s -o UserKnownHostsFile=${known}\n`,
  )
  writeFileSync(join(one.directory, 'playbook.yaml'), playbook())
}

function run(
  one: Lab,
  words: readonly string[],
): { readonly ms: number; readonly stdout: string; readonly stderr: string } {
  const before = performance.now()
  const ran = one.inside(['env', `ANSIBLE_CONFIG=${join(one.directory, 'ansible.cfg')}`, ...words], {
    timeoutMs: 300_000,
  })
  const ms = performance.now() - before
  if (ran.code !== 0) throw new Error(`${words.join(' ')} ended with ${ran.code}: ${ran.stdout}${ran.stderr}`)
  return { ms, ...ran }
}

function venv(): string {
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'croft', 'ansible-venv')
}

/** From PyPI, into a place of its own, once. */
function ansibleMissing(): string | undefined {
  if (existsSync(join(venv(), 'bin/ansible-playbook'))) return undefined
  spawnSync('python3', ['-m', 'venv', venv()], { stdio: 'ignore' })
  spawnSync(join(venv(), 'bin/pip'), ['install', '-q', 'ansible-core'], { stdio: 'ignore', timeout: 600_000 })
  return existsSync(join(venv(), 'bin/ansible-playbook')) ? undefined : 'needs Ansible, which pip could not install'
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}

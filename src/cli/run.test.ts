import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Kind } from '../kinds/kind.ts'
import { RecordClosed } from '../model/cluster.ts'
import type { Declaration, Problem } from '../model/declaration.ts'
import type { Plan } from '../model/plan.ts'
import { StaleEpoch } from '../store/port.ts'
import { runCli } from './run.ts'
import { EMPTY_ESTATE, fakeRuntime, planning } from './testing/fake-runtime.ts'

const MACHINE = { kind: 'Machine', plural: 'machines', shortNames: ['m'] } as unknown as Kind
const kinds = async () => [MACHINE]
const adding: Plan = {
  entries: [
    {
      key: 'Machine/a',
      uid: 'u',
      connection: 'c',
      type: 'vm',
      action: { do: 'create', externalId: '1', host: 'h', steps: [], reason: '' },
    },
  ],
  notes: [],
  problems: [],
}
const removing: Plan = {
  ...adding,
  entries: [
    {
      key: 'Machine/a',
      uid: 'u',
      connection: 'c',
      type: 'vm',
      action: { do: 'delete', externalId: '1', host: 'h', steps: [], reason: '' },
    },
  ],
}
const problem: Problem = {
  code: 'bad-value',
  origin: { file: 'a.yaml', line: 3, column: 7 },
  message: 'cores is 0',
  severity: 'error',
}
const load = async () => EMPTY_ESTATE

test('help names a command, or shows all', async () => {
  for (const [argv, expected] of [
    [['help'], /^Usage: croft \[options\] \[command\]/],
    [['help', '--help'], /^Usage: croft \[options\] \[command\]/],
    [['help', 'help'], /^Usage: croft \[options\] \[command\]/],
    [['help', 'plan'], /^Usage: croft plan/],
    [['help', 'status'], /^Usage: croft health\|status/],
  ] as const) {
    const runtime = fakeRuntime({ kinds, load })
    assert.equal(await runCli(argv, runtime), 0, argv.join(' '))
    assert.match(runtime.written.out, expected)
  }
})

test('wrong usage is 64 and says where to look', async () => {
  const cases: readonly [readonly string[], RegExp][] = [
    [['plna', '/'], /Unknown command 'plna'\n\(Did you mean plan\?\)\nRun croft --help/],
    [['help', 'plna'], /^Error: Unknown command 'plna'\n\(Did you mean plan\?\)\nRun croft --help/],
    [['describe'], /Missing required argument 'kind'\nRun croft describe --help/],
    [['plan', '/', '-o', 'xml'], /'xml' is invalid\. Allowed choices are wide, json, yaml\.\nRun croft plan --help/],
    [['get', '--frob'], /Unknown option '--frob'/],
    [['explain', 'frob'], /There is no kind frob\. Kinds: Machine\./],
    [['apply', '/', '--timeout', 'soon'], /--timeout soon is not a duration/],
    [['sim', '--port', '70000'], /--port 70000 is not a whole number from 0 to 65535/],
    [['completion', 'tcsh'], /There is no completion for tcsh\. Choose one of bash, zsh, fish\./],
    [['plan', '/no/such/dir'], /There is no file or directory \/no\/such\/dir\. Name the directory/],
  ]
  for (const [argv, expected] of cases) {
    const runtime = fakeRuntime({ kinds, load })
    assert.equal(await runCli(argv, runtime), 64, argv.join(' '))
    assert.match(runtime.written.err, expected)
    assert.equal(runtime.written.out, '')
  }
})

test('a record that nobody here can open is an ordinary mistake: what to do, and no talk of the unexpected', async () => {
  const load = async () => {
    throw new RecordClosed('escrow/home.cluster.age', { why: 'there is no key', key: 'set it' }, 'escrow')
  }
  const runtime = fakeRuntime({ load })
  assert.equal(await runCli(['validate', '/'], runtime), 1)
  assert.match(
    runtime.written.err,
    /^Error: escrow\/home\.cluster\.age is sealed: there is no key: set it\. .*move escrow\/home\.cluster\.age away/,
  )
  assert.doesNotMatch(runtime.written.err, /not expected/)
})

test('get shows what it could read, and ends with 1 because a manifest is wrong', async () => {
  for (const [problems, code] of [
    [[], 0],
    [[{ ...problem, severity: 'warning' as const }], 0],
    [[problem], 1],
  ] as const) {
    const runtime = fakeRuntime({
      ...planning(adding),
      kinds,
      load: async () => ({ ...EMPTY_ESTATE, estate: { ...EMPTY_ESTATE.estate, problems } }),
    })
    assert.equal(await runCli(['get', '/'], runtime), code, runtime.written.err)
    assert.equal(/1 error in \/\. Run croft validate/.test(runtime.written.err), code === 1)
  }
})

test('an unexpected error shows one line and no stack unless asked for', async () => {
  const load = async () => {
    throw new TypeError('boom\x1b[2J')
  }
  const quiet = fakeRuntime({ load })
  assert.equal(await runCli(['validate', '/'], quiet), 1)
  assert.match(quiet.written.err, /^Error: boom\nThis was not expected\. Run it again with CROFT_LOG=debug/)
  assert.doesNotMatch(quiet.written.err, /\bat \S+ \(|\x1b/)
  const loud = fakeRuntime({ load, env: { CROFT_LOG: 'debug' } })
  await runCli(['validate', '/'], loud)
  assert.match(loud.written.err, /run\.test\.ts/)
})

test('a second croft on the same database is no riddle: what happened and when to try again', async () => {
  const load = () => Promise.reject(new StaleEpoch(1, 2))
  const runtime = fakeRuntime({ load })
  assert.equal(await runCli(['validate', '/'], runtime), 1)
  assert.match(runtime.written.err, /another controller began epoch 2[\s\S]*Run it again when no other croft/)
  assert.doesNotMatch(runtime.written.err, /not expected/)
})

test('a signal decides the exit code: 130 after SIGINT, 143 after SIGTERM', async () => {
  for (const [name, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const runtime = fakeRuntime({ signal: AbortSignal.abort(name), load })
    assert.equal(await runCli(['validate', '/'], runtime), code)
  }
})

test('[S-12] with an invalid manifest nothing is planned, unless asked to keep going', async () => {
  const load = async () => ({ ...EMPTY_ESTATE, estate: { ...EMPTY_ESTATE.estate, problems: [problem] } })
  const careful = fakeRuntime({ load })
  assert.equal(await runCli(['plan', '/'], careful), 1)
  assert.match(careful.written.err, /Error\[bad-value\]: cores is 0\n {2}--> \/a\.yaml:3:7/)
  assert.match(
    careful.written.err,
    /nothing was looked at or done\. Correct the files named above, or use --keep-going/,
  )
  const going = fakeRuntime({ load, ...planning({ ...adding, problems: [problem] }) })
  assert.equal(await runCli(['plan', '/', '--keep-going'], going), 1)
  assert.match(going.written.out, /Plan: 1 to add/)
})

test('warnings by themselves are counted by plan and shown by validate', async () => {
  const warned = { ...problem, severity: 'warning' as const }
  const load = async () => ({ ...EMPTY_ESTATE, estate: { ...EMPTY_ESTATE.estate, problems: [warned] } })
  const planned = fakeRuntime({ load, ...planning(adding) })
  assert.equal(await runCli(['plan', '/'], planned), 2)
  assert.match(planned.written.err, /1 warning in \/\. Run croft validate \/ to see them\./)
  assert.doesNotMatch(planned.written.err, /cores is 0/)
  const exported = fakeRuntime({ load })
  await runCli(['export', '--dir', '/'], exported)
  assert.doesNotMatch(exported.written.err, /1 warning|cores is 0/)
  const validated = fakeRuntime({ load })
  assert.equal(await runCli(['validate', '/'], validated), 0)
  assert.match(validated.written.err + validated.written.out, /Warning\[bad-value\]: cores is 0/)
})

test('[F-20] apply beside a controller says so and does nothing; one that is just ending is waited for', async () => {
  const owner = { pid: 7, host: 'nuc', sinceMs: 0 }
  const work = planning(adding)
  const beside = fakeRuntime({ load, ...work, lockState: async () => ({ got: false, owner }) })
  assert.equal(await runCli(['apply', '/', '--yes'], beside), 1)
  assert.match(
    beside.written.err,
    /Another croft \(process 7 on nuc\) is at work on .*croft\.db.*croft get --dir \/ shows how far/,
  )
  assert.equal(work.settled, 0)
  assert.equal(await runCli(['apply', '/', '--dry-run'], beside), 2, 'to look needs nobody to stand aside')
  let looks = 0
  let released = 0
  const ending = fakeRuntime({
    load,
    ...work,
    lockState: async () => (++looks < 3 ? { got: false, owner } : { got: true, release: () => void released++ }),
  })
  await runCli(['apply', '/', '--yes'], ending)
  assert.deepEqual([work.settled, released], [1, 1])
})

test('apply does nothing without a yes', async () => {
  const alone = planning(adding)
  const unattended = fakeRuntime({ load, ...alone })
  assert.equal(await runCli(['apply', '/'], unattended), 1)
  assert.match(unattended.written.err, /Nobody is at the terminal to confirm\. .* run it again with --yes/)
  for (const answer of ['y', 'no', '', undefined]) {
    const refused = fakeRuntime({ load, ...alone, interactive: true, ask: async () => answer })
    assert.equal(await runCli(['apply', '/'], refused), 1)
  }
  assert.equal(alone.settled, 0)
  const agreed = fakeRuntime({ load, ...alone, interactive: true, ask: async () => 'yes' })
  assert.equal(await runCli(['apply', '/'], agreed), 0)
  assert.equal(alone.settled, 1)
})

test('apply --dry-run answers as plan does and does nothing', async () => {
  const world = planning(adding)
  assert.equal(await runCli(['apply', '/', '--dry-run'], fakeRuntime({ load, ...world })), 2)
  assert.equal(world.settled, 0)
})

test('delete refuses what is still declared and says where', async () => {
  const declaration = { key: 'Machine/a', origin: { file: 'm.yaml', line: 4, column: 1 } } as Declaration
  const world = planning(removing)
  const runtime = fakeRuntime({ kinds, ...world, load: async () => ({ ...EMPTY_ESTATE, declarations: [declaration] }) })
  assert.equal(await runCli(['delete', 'm/a', '--dir', '/', '--yes'], runtime), 1)
  assert.match(runtime.written.err, /Machine\/a is still declared at m\.yaml:4:1.*Remove it there and commit/)
  assert.equal(world.settled, 0)
})

test('delete asks for the name, and says when there is nothing to delete', async () => {
  const world = planning(removing)
  const wrong = fakeRuntime({ kinds, load, ...world, interactive: true, ask: async () => 'yes' })
  assert.equal(await runCli(['delete', 'm', 'a', '--dir', '/'], wrong), 1)
  assert.match(wrong.written.err, /Nothing was deleted\. Run it again and type a to go on\./)
  const gone = planning({ ...removing, entries: [] })
  const nothing = fakeRuntime({ kinds, load, ...gone })
  assert.equal(await runCli(['delete', 'm/a', '--dir', '/', '--yes'], nothing), 1)
  assert.match(nothing.written.err, /there is nothing to delete/)
  assert.equal(world.settled + gone.settled, 0)
})

test('version prints for people and for programs', async () => {
  const text = fakeRuntime()
  assert.equal(await runCli(['version'], text), 0)
  assert.match(text.written.out, /^croft 9\.9\.9 /)
  const json = fakeRuntime()
  await runCli(['version', '-o', 'json'], json)
  assert.equal((JSON.parse(json.written.out) as { croft: string }).croft, '9.9.9')
})

test('ordinary mistakes get an ordinary sentence', async () => {
  const cases: readonly (readonly [object, RegExp])[] = [
    [{ code: 'EADDRINUSE', address: '127.0.0.1', port: 8006 }, /^Error: Port 8006 of 127\.0\.0\.1 is in use/],
    [{ code: 'EACCES', syscall: 'listen', port: 80 }, /^Error: Only root may listen on port 80/],
    [{ code: 'EACCES', path: '/etc/x' }, /^Error: You may not read or write \/etc\/x/],
    [{ code: 'ENOTDIR', path: '/a/b' }, /^Error: \/a\/b is not a directory/],
    [{ code: 'ENOSPC', path: '/a/b' }, /^Error: The disk is full/],
  ]
  for (const [more, expected] of cases) {
    const runtime = fakeRuntime({
      kinds: async () => {
        throw Object.assign(new Error('raw'), more)
      },
    })
    assert.equal(await runCli(['explain'], runtime), 1)
    assert.match(runtime.written.err, expected)
    assert.doesNotMatch(runtime.written.err, /not expected/)
  }
})

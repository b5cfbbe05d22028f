import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isTestCode } from './layers-rules.ts'
import { codeOf, importsOf } from './layers-source.ts'

const root = join(import.meta.dirname, '..')
const sources = globSync('src/**/*.ts', { cwd: root })
  .filter((path) => !isTestCode(path))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))

/** Files that import one of these names of a file or module. */
function importersOf(target: RegExp, wanted: readonly string[] = []): readonly string[] {
  return sources
    .filter((file) =>
      importsOf(file).some(
        (one) =>
          (target.test(one.target) || target.test(one.specifier)) &&
          (wanted.length === 0 || one.names.some((name) => wanted.includes(name) || name === '*')),
      ),
    )
    .map(({ path }) => path)
    .sort()
}

/* What evaluates text of others may only be imported where trees are read and instances expanded: the cage does that. */

test('expressions are evaluated nowhere but in the source, which the cage runs', () => {
  assert.deepEqual(importersOf(/^src\/lib\/cel\.ts$/, ['holds', 'evaluate']), [
    'src/source/apart/worker.ts',
    'src/source/compose/expand-graph.ts',
    'src/source/compose/shape.ts',
    'src/source/compose/template.ts',
  ])
})

test('patterns are matched nowhere but in the source', () => {
  assert.deepEqual(
    importersOf(/^src\/lib\/foreign-pattern\.ts$/).filter((path) => !path.startsWith('src/source/')),
    ['src/lib/cel.ts'],
  )
})

test('the libraries that evaluate are loaded by one file each', () => {
  assert.deepEqual(
    importersOf(/^@bufbuild\/cel$/).filter((path) => !/^src\/lib\/cel(?:-\w+)?\.ts$/.test(path)),
    [],
  )
  assert.deepEqual(
    importersOf(/^@bufbuild\/re2$/).filter(
      (path) => path !== 'src/lib/foreign-pattern.ts' && path !== 'src/lib/pattern-groups.ts',
    ),
    [],
  )
})

/** Functions that read definitions, expand instances or match foreign patterns, by the file that has them. */
const EXPANDING: readonly (readonly [file: RegExp, names: readonly string[], by: readonly string[]])[] = [
  [/^src\/source\/compose\/in-cluster\.ts$/, ['readDefinitions', 'answerInCluster'], ['src/source/apart/worker.ts']],
  [
    /^src\/source\/compose\/expand-instance\.ts$/,
    ['expandInstance'],
    ['src/source/compose/compose.ts', 'src/source/compose/in-cluster.ts', 'src/source/compose/late.ts'],
  ],
  [
    /^src\/source\/compose\/readers\.ts$/,
    ['readApis'],
    ['src/source/compose/compose.ts', 'src/source/compose/in-cluster.ts', 'src/source/compose/late.ts'],
  ],
]

test('definitions are read and instances expanded by the cage, for files and for the objects of a cluster', () => {
  for (const [file, names, by] of EXPANDING) assert.deepEqual(importersOf(file, names), by, String(file))
})

test('files of other tools are read for an import by the cage alone', () => {
  assert.deepEqual(importersOf(/^src\/source\/foreign\/registry\.ts$/, ['readForeign']), [
    'src/source/foreign/import-text.ts',
  ])
  assert.deepEqual(importersOf(/^src\/source\/foreign\/import-text\.ts$/, ['importText']), [
    'src/source/apart/worker.ts',
  ])
  const formats = /^src\/source\/foreign\/formats\//
  assert.deepEqual(
    importersOf(formats).filter((path) => !/^src\/source\/foreign\/(?:formats|terraform)\//.test(path)),
    ['src/source/foreign/registry.ts'],
  )
})

test('engine, drivers, controller, operator and server see answers, and expand nothing', () => {
  const pure = /^src\/(?:engine|drivers|controller|operator|server|plan|model|kubernetes|store)\//
  const evaluating =
    /^src\/(?:lib\/(?:foreign-pattern)|source\/compose\/(?:expand|template|late|compose\.|shape|readers|transforms|graph))/
  /** A list of what is known, and a type. */
  const harmless = ['READERS', 'ValueShape']
  const seen = sources
    .filter(({ path }) => pure.test(path))
    .flatMap((file) =>
      importsOf(file)
        .filter(({ target, names }) => evaluating.test(target) && !names.every((name) => harmless.includes(name)))
        .map(({ target }) => `${file.path} imports ${target}`),
    )
  assert.deepEqual(seen, [])
})

/** Every file that may open a connection or start a program. A new one is a new way out: see SECURITY.md. */
const WAYS_OUT: readonly string[] = [
  'src/cli/demo/page.ts',
  'src/cli/demo/repository.ts',
  'src/cli/verbs/ask.ts',
  'src/controller/checks/probes.ts',
  'src/controller/notices/outbox.ts',
  'src/controller/notices/smtp.ts',
  'src/controller/wishes/forge-send.ts',
  'src/drivers/power/line-exchange.ts',
  'src/lib/datagram.ts',
  'src/lib/egress-door.ts',
  'src/lib/outgoing.ts',
  'src/lib/ssh-signature.ts',
  'src/lib/tls-certificate.ts',
  'src/lib/tls-dial.ts',
  'src/lib/tls-wire.ts',
  'src/lib/web-socket.ts',
  'src/operator/health.ts',
  'src/server/auth/oidc.ts',
  'src/server/page-files.ts',
  'src/server/start.ts',
  'src/source/apart/cage.ts',
  'src/source/git/git-run.ts',
  'src/ssh/child.ts',
  'src/ssh/enrol.ts',
  'src/ssh/master.ts',
  'src/ssh/start-terminal.ts',
]

/** Libraries that open sockets, and the files that have each. */
const SOCKET_LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  nodemailer: ['src/controller/notices/smtp.ts'],
  'openid-client': ['src/server/auth/oidc.ts'],
  ws: ['src/lib/web-socket-server.ts', 'src/lib/web-socket.ts'],
}

test('few files open connections or start programs', () => {
  const modules = /^(?:node:)?(?:http|https|http2|net|tls|dgram|dns|dns\/promises|child_process|cluster|inspector)$/
  const harmless = [
    'isIP',
    'isIPv4',
    'isIPv6',
    'BlockList',
    'ClientRequest',
    'IncomingMessage',
    'ServerResponse',
    'Socket',
    'Server',
  ]
  const global = /(?<![.\w'])(?:fetch\s*\(|fetch\b(?=[,;)\]}])|new (?:WebSocket|EventSource|Socket)\()|\bglobalThis\b/
  const builtin = /getBuiltinModule\((?!'node:(?:sqlite|crypto|zlib|fs|v8|sea|util|path|module)')|process\.binding/
  const using = sources
    .filter(
      (file) =>
        importsOf(file).some(
          ({ specifier, names }) => modules.test(specifier) && !names.every((name) => harmless.includes(name)),
        ) ||
        (global.test(codeOf(file.text).text) && !importsOf(file).some(({ names }) => names.includes('fetch'))) ||
        builtin.test(file.text),
    )
    .map(({ path }) => path)
    .sort()
  assert.deepEqual(using, WAYS_OUT)
})

test('libraries that open sockets are loaded by few files, and no other of them is among the dependencies', () => {
  for (const [library, files] of Object.entries(SOCKET_LIBRARIES))
    assert.deepEqual(importersOf(new RegExp(`^${library}(?:/|$)`)), files, library)
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly dependencies: object
  }
  const known = /^(?:undici|axios|got|node-fetch|ssh2|socks.*|.*proxy-agent|request|superagent|mqtt|amqplib)$/
  assert.deepEqual(
    Object.keys(dependencies).filter((name) => known.test(name)),
    [],
  )
  assert.deepEqual(importersOf(/^undici(?:\/|$)/), [])
})

test('a place that a declaration names is asked through the gate, and few files say that everything may be asked', () => {
  assert.deepEqual(importersOf(/^src\/lib\/egress\.ts$/, ['EVERYWHERE']), [
    'src/lib/outgoing.ts',
    'src/main/charts.ts',
    'src/main/estate.ts',
  ])
  // One request without the gate: to the server that a person named.
  assert.deepEqual(importersOf(/^src\/lib\/outgoing\.ts$/, ['exchange']), ['src/state/ask-server.ts'])
  // A brand is made where it is declared, and nowhere else.
  const making = sources.filter(({ text }) => /\bas (?:unknown as )?Permitted\w+/.test(text)).map(({ path }) => path)
  assert.deepEqual(making.sort(), [
    'src/lib/outgoing.ts',
    'src/model/foreign-object.ts',
    'src/source/git/fetched-git.ts',
  ])
})

test('the program hands trees to a reader that runs the cage: commands too', () => {
  const reading = /\b(?:readTree|readCommit|followDirectory|followRepository|withFetched|openSources)\(/
  const careless = sources
    .filter(({ path, text }) => /^src\/(?:main|cli|controller|operator|state)\//.test(path) && reading.test(text))
    .filter(({ text }) => !/\breader\b/.test(text))
    .map(({ path }) => path)
  assert.deepEqual(careless, [])
  assert.deepEqual(
    importersOf(/^src\/source\/read-here\.ts$/).filter((path) => !path.startsWith('src/source/')),
    ['src/controller/sources/open-sources.ts'],
  )
})

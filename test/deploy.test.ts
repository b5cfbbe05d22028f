import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { metricsText } from '../src/controller/view/metrics.ts'
import { KINDS } from '../src/kinds/registry.ts'
import { readGrants } from '../src/operator/grants.ts'
import { GRANTABLE } from '../src/plan/grants.ts'
import { smallEstate } from '../src/server/testing/fake-estate.ts'
import { HELM } from './helm-here.ts'

const at = (name: string) => new URL(`../deploy/${name}`, import.meta.url)

test('every metric that the dashboard draws is one that croft has', () => {
  const text = readFileSync(at('grafana-dashboard.json'), 'utf8')
  const board = JSON.parse(text) as {
    readonly panels: readonly { readonly title: string; readonly targets?: unknown }[]
  }
  assert.ok(board.panels.length > 3)
  const counters = { passes: 1, effects: 1, passMs: 1, sourceLooks: 1, sourceTroubles: 0, pokes: 0 }
  const view = { ...smallEstate(), pass: { endedMs: 1, tookMs: 1, effects: 0, nextMs: 2 } }
  const had = new Set(metricsText(view, counters, '1.0.0', 5).match(/^croft_[a-z_]+/gm))
  const drawn = new Set(text.match(/croft_[a-z_]+/g))
  assert.deepEqual(
    [...drawn].filter((name) => !had.has(name)),
    [],
  )
  assert.ok(drawn.size > 5)
})

test('the unit gives croft nothing that it does not need', () => {
  const lines = readFileSync(at('croft.service'), 'utf8').split('\n')
  for (const line of [
    'NoNewPrivileges=yes',
    'ProtectSystem=strict',
    'ProtectHome=yes',
    'ProtectClock=yes',
    'ProtectKernelLogs=yes',
    'ProtectProc=invisible',
    'RestrictSUIDSGID=yes',
    'SystemCallFilter=@system-service',
    'SystemCallErrorNumber=EPERM',
    'CapabilityBoundingSet=',
  ])
    assert.ok(lines.includes(line), line)
})

const ANALYZE = '/usr/bin/systemd-analyze'

test('systemd understands the unit', {
  skip: existsSync(ANALYZE) || process.env.CI !== undefined ? false : `${ANALYZE} is missing`,
}, () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'croft-unit-'))
  try {
    // Its program and its user are not on this computer; everything else must be as systemd wants it.
    const unit = readFileSync(at('croft.service'), 'utf8')
      .replace('/usr/bin/croft', '/bin/true')
      .replace('User=croft', '')
    const file = path.join(directory, 'croft.service')
    writeFileSync(file, unit)
    const { status, stderr } = spawnSync(ANALYZE, ['verify', '--man=no', file], { encoding: 'utf8' })
    const about = stderr.split('\n').filter((line) => line.includes('croft.service'))
    assert.deepEqual(about, [])
    assert.equal(status, 0, stderr)
  } finally {
    rmSync(directory, { recursive: true })
  }
})

test('the chart names every group of the provider that croft reads, and runs croft without rights on its host', () => {
  const values = parse(readFileSync(at('chart/values.yaml'), 'utf8')) as {
    readonly crossplane: { readonly enabled: boolean; readonly groups: readonly string[] }
  }
  const groups = KINDS.filter(({ apiVersion }) => !apiVersion.startsWith('croft.dev/')).map(({ kind, apiVersion }) =>
    kind === 'ProviderConfig' ? 'proxmoxbpg.crossplane.io' : `${apiVersion.split('.')[0]}.proxmoxbpg.crossplane.io`,
  )
  assert.deepEqual(values.crossplane.groups, [...new Set(groups)].sort())
  assert.equal(values.crossplane.enabled, false, 'namespaced unless somebody asks for more')
  const pod = readFileSync(at('chart/templates/deployment.yaml'), 'utf8')
  for (const line of [
    'runAsNonRoot: true',
    'seccompProfile: {type: RuntimeDefault}',
    'allowPrivilegeEscalation: false',
    'readOnlyRootFilesystem: true',
    'capabilities: {drop: [ALL]}',
    'path: /healthz',
    'path: /readyz',
  ])
    assert.ok(pod.includes(line), line)
  const rights = readFileSync(at('chart/templates/rbac.yaml'), 'utf8')
  assert.doesNotMatch(rights, /verbs: .*\*/)
  assert.doesNotMatch(rights, /apiGroups: .*\*/)
})

interface RenderedRole {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace: string }
  readonly rules: readonly {
    readonly apiGroups?: readonly string[]
    readonly resources: readonly string[]
    readonly verbs: readonly string[]
  }[]
}

// Debian has no package of Helm: where there is none a line says so, and that is no failure.
if (HELM === undefined)
  test.before((t) => {
    if ('diagnostic' in t) t.diagnostic('there is no helm here: it did not render the chart')
  })
else
  test('Helm takes the chart with its own values and with each that somebody may set', () => rendersChart(HELM ?? ''))

function rendersChart(helm: string): void {
  const home = mkdtempSync(path.join(tmpdir(), 'croft-helm-'))
  const helmed = (...words: readonly string[]) => {
    const env = { PATH: process.env.PATH, HOME: home }
    const ran = spawnSync(helm, [...words], { encoding: 'utf8', env })
    assert.equal(ran.status, 0, `${words.join(' ')}: ${ran.stdout}${ran.stderr}`)
    return ran.stdout
  }
  const rendered = (...set: readonly string[]) => {
    const settings = set.flatMap((one) => ['--set', one])
    helmed('lint', '--strict', at('chart').pathname, ...settings)
    const text = helmed('template', 'croft', at('chart').pathname, '-n', 'croft-system', ...settings)
    return parseAllDocuments(text).map((document) => JSON.stringify(document.toJS() ?? {}))
  }
  try {
    const plain = rendered()
    assert.equal(plain.length, 7)
    for (const word of [
      'crossplane',
      'kro.run',
      '--own-apis',
      'customresourcedefinitions',
      '"delete"]},{"apiGroups":["croft.dev"]',
    ])
      assert.equal(plain.join().includes(word), false, word)
    for (const [set, expected] of [
      ['image.repository=registry.example/croft', '"image":"registry.example/croft:0.1.0"'],
      ['image.tag=9.9', '"image":"croft:9.9"'],
      ['image.pullPolicy=Always', '"imagePullPolicy":"Always"'],
      ['replicas=1', '"replicas":1'],
      ['resources.limits.memory=1Gi', '"memory":"1Gi"'],
      ['networkPolicy.ports={8443}', '{"port":8443,"protocol":"TCP"}'],
      ['crossplane.enabled=true', '"virtualenvironmentvm.proxmoxbpg.crossplane.io"'],
      ['ownApis.enabled=true', '"0.0.0.0:8081","--own-apis"]'],
    ] as const)
      assert.ok(rendered(set).join().includes(expected), set)
    assert.equal(rendered('networkPolicy.enabled=false').length, 6)
    const secrets = rendered('crossplane.enabled=true', 'crossplane.secretNamespaces={vault}').join()
    assert.ok(secrets.includes('"namespace":"vault"'))
    const granted = rendered(
      'grants.team-a.kinds={Machine}',
      'grants.team-a.hosts={cow}',
      'grants.team-b.kinds={Addon}',
      'grants.team-b.names={shop}',
    )
    assert.equal(granted.length, 12, 'a ConfigMap, and a Role with its binding in each namespace')
    assert.deepEqual(
      granted.filter((one) => one.includes('"kind":"ClusterRole"')),
      plain.filter((one) => one.includes('"kind":"ClusterRole"')),
      'no right outside of the namespaces that are named',
    )
    const roles = granted
      .map((one) => JSON.parse(one) as RenderedRole)
      .filter(({ kind, metadata }) => kind === 'Role' && metadata.name.endsWith('-granted'))
    assert.deepEqual(
      roles.map(({ metadata }) => metadata.namespace),
      ['team-a', 'team-b'],
    )
    for (const { rules } of roles) {
      assert.deepEqual(rules.find(({ resources }) => resources.includes('secrets'))?.verbs, ['get'])
      assert.ok(!rules.some(({ verbs }) => verbs.includes('delete') || verbs.includes('*')))
      for (const { plural, kind } of KINDS.filter(({ apiVersion }) => apiVersion.startsWith('croft.dev/')))
        assert.equal(
          rules.some(({ resources }) => resources.includes(plural)),
          GRANTABLE.includes(kind),
          kind,
        )
    }
    assert.ok(granted.join().includes('"--grants","/etc/croft/grants.yaml"]'))
    assert.ok(granted.join().includes('{"name":"grants","mountPath":"/etc/croft","readOnly":true}'))
    const file = granted.map((one) => JSON.parse(one) as { data?: Readonly<Record<string, string>> })
    const text = file.find(({ data }) => data !== undefined)?.data?.['grants.yaml'] ?? ''
    const read = readGrants(text, 'grants.yaml', 'croft-system')
    assert.ok(!('problems' in read), text)
    assert.deepEqual([...read.keys()], ['team-a', 'team-b'])
    assert.deepEqual(read.get('team-b')?.names, ['shop'])
    const composing = rendered('grants.team-a.kinds={Machine}', 'ownApis.enabled=true', 'ownApis.groups={a.example}')
      .map((one) => JSON.parse(one) as RenderedRole)
      .find(({ kind, metadata }) => kind === 'Role' && metadata.name.endsWith('-granted'))
    assert.deepEqual(
      composing?.rules.find(({ resources }) => resources.includes('machines'))?.verbs,
      ['get', 'list', 'watch', 'patch', 'create', 'delete'],
      'instances there make objects there',
    )
    assert.deepEqual(composing?.rules.find(({ apiGroups }) => apiGroups?.includes('a.example'))?.verbs, [
      'get',
      'list',
      'watch',
      'patch',
    ])
    const own = rendered(
      'ownApis.enabled=true',
      'ownApis.groups={a.example}',
      'ownApis.clusterGroups={b.example}',
    ).join()
    for (const group of [
      '["a.example"]',
      '["b.example"]',
      '["resourcegraphdefinitions","resourcegraphdefinitions/status"]',
    ])
      assert.ok(own.includes(`"apiGroups":${group}`) || own.includes(`"resources":${group}`), group)
    assert.ok(
      own.includes(
        '{"apiGroups":["croft.dev"],"resources":["*"],"verbs":["get","list","watch","patch","create","delete"]}',
      ),
    )
  } finally {
    rmSync(home, { recursive: true })
  }
}

test('the health for Argo CD names conditions and reasons that croft writes', () => {
  const file = parse(readFileSync(at('argocd-health.yaml'), 'utf8')) as {
    readonly data: Readonly<Record<string, string>>
  }
  const customizations = parse(file.data['resource.customizations'] ?? '') as Readonly<Record<string, unknown>>
  assert.deepEqual(Object.keys(customizations), ['croft.dev/*'])
  const said = readFileSync(new URL('../src/operator/status.ts', import.meta.url), 'utf8')
  const named = [...JSON.stringify(customizations).matchAll(/found\.(\w+)|reason == \\"(\w+)/g)].map(
    ([, type, reason]) => type ?? reason ?? '',
  )
  assert.deepEqual([...new Set(named)].sort(), ['Ready', 'Refused', 'Stalled', 'Synced'])
  for (const word of named) assert.ok(said.includes(`'${word}'`), word)
})

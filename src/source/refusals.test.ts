import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readFiles } from './files/read-files.ts'
import { errorsOf, readText, readTexts, told, vmManifest } from './testing/fixture.ts'

function refused(text: string): readonly string[] {
  const revision = readText(text)
  assert.equal(revision.declarations.length, 0, text)
  return told(errorsOf(revision))
}

test('an unknown field names the nearest known one, with place, excerpt and mark', () => {
  const revision = readText(vmManifest('memroy:\n  dedicated: 4096\nnetworkDevcie:\n  - bridge: vmbr0'))
  assert.deepEqual(told(revision.problems), [
    'unknown-field 8:5 "memroy" is not a field of forProvider (did you mean memory?)',
    'unknown-field 10:5 "networkDevcie" is not a field of forProvider (did you mean networkDevice?)',
  ])
  assert.equal(revision.problems[0]?.excerpt, ['7 |     nodeName: pve1', '8 |     memroy:', '  |     ^'].join('\n'))
  assert.equal(revision.problems[0]?.object, 'EnvironmentVM/web-1')
  assert.equal(revision.problems[0]?.field, 'spec.forProvider.memroy')
  assert.deepEqual(revision.unreadable, ['EnvironmentVM/web-1'])
})

test('all errors of all documents are told at once, each at its own line', () => {
  const second = vmManifest('cpu:\n  cores: "4"\nstarted: "yes"', 'web-2')
  const problems = refused(`${vmManifest('vmId: 5')}---\n${second}---\nkind: Machine\n`)
  assert.deepEqual(problems, [
    'out-of-range 8:11 vmId is 5; it may be no less than 100',
    'wrong-type 18:14 cpu.cores is "4"; expected a whole number (write it without quotes: 4)',
    'wrong-type 19:14 started is "yes"; expected true or false (write true)',
    'missing-field 21:1 apiVersion is missing (write apiVersion: croft.dev/v1alpha1)',
  ])
})

test('errors inside a list of one keep the place of the source', () => {
  const listed = refused(vmManifest('cpu:\n  - cores: 0\n    typ: host'))
  assert.deepEqual(listed, [
    'out-of-range 9:16 cpu.cores is 0; it may be no less than 1',
    'unknown-field 10:9 "typ" is not a field of cpu (did you mean type?)',
  ])
  assert.deepEqual(refused(vmManifest('cpu:\n  - cores: 1\n  - cores: 2')), [
    'bad-value 9:7 cpu is a list; expected one block, not 2',
  ])
  // A bare object where a list is usual, and a field under its other name.
  assert.match(
    refused(vmManifest('network:\n  bridge: 1'))[0] ?? '',
    /^wrong-type 9:15 networkDevice\[0\]\.bridge is 1; expected a bridge name/,
  )
})

test('a line that is indented too deep is named itself, once, and not the line above it', () => {
  const text =
    'apiVersion: croft.dev/v1alpha1\nkind: Machine\nmetadata: {name: a}\nspec:\n  host: pve1\n   memory: 4Gi\n'
  assert.deepEqual(refused(text), [
    'yaml-syntax 6:4 this line is indented deeper than the one above it, which has its value already (give it the same indentation as the fields that it stands beside)',
  ])
  assert.match(refused(text.replace('  host', '\thost'))[0] ?? '', /^tab 5:1 .*\(indent with spaces\)/)
})

test('a secret that stands in the manifest itself is repeated nowhere', () => {
  const text =
    'apiVersion: croft.dev/v1alpha1\nkind: Proxmox\nmetadata: {name: a}\nspec:\n  endpoint: https://127.0.0.1:8006\n  token: root@pam!croft=5ec7e7\n'
  const { problems } = readText(text)
  assert.deepEqual(told(problems.filter(({ code }) => code === 'secret-in-manifest')), [
    'secret-in-manifest 6:10 token must say where the secret is found, and never the secret itself (write token: {env: NAME} or {file: /path}; if this was the secret, make a new one)',
  ])
  assert.doesNotMatch(JSON.stringify(problems), /5ec7e7/)
})

test('a value of the wrong type is told what it should look like, and quotes are offered only where they help', () => {
  const machine = (memory: string) =>
    `apiVersion: croft.dev/v1alpha1\nkind: Machine\nmetadata: {name: a}\nspec:\n  host: pve1\n  cpu: {cores: 1}\n  memory: ${memory}\n`
  assert.deepEqual(refused(machine('4096')), [
    'wrong-type 7:11 memory is 4096; expected a size like 4Gi or 4096Mi (add the unit: 4096Mi)',
  ])
  const bindings =
    'apiVersion: croft.dev/v1alpha1\nkind: Host\nmetadata: {name: a}\nspec:\n  bindings:\n    networks: {lan: vmbr0}\n'
  assert.deepEqual(refused(bindings), [
    'wrong-type 6:21 bindings.networks.lan is "vmbr0"; expected a block of fields (its fields are bridge, vlan)',
  ])
})

test('[S-10] numbers out of range, or that are no numbers, are refused by range', () => {
  for (const value of ['4294967295', '-1', '1e309', '.nan', '.inf', '0x7fffffff', '1.5', '99999999999999999999']) {
    const problems = refused(vmManifest(`vmId: ${value}`))
    assert.equal(problems.length, 1, problems.join('\n'))
    assert.match(problems[0] ?? '', /^(?:out-of-range|wrong-type|ambiguous-number) 8:11 /, value)
  }
})

test('[S-11] names that would reach a prototype are refused and pollute nothing', () => {
  for (const key of ['__proto__', 'constructor', 'prototype']) {
    const problems = refused(vmManifest(`${key}:\n  polluted: true`))
    assert.match(problems[0] ?? '', new RegExp(`^bad-key 8:5 ${key} cannot be the name of a field`))
  }
  assert.match(refused(vmManifest('<<: {polluted: true}'))[0] ?? '', /^merge-key 8:5 /)
  assert.match(refused(vmManifest('<<: {__proto__: {polluted: true}}')).join(), /merge-key/)
  assert.equal(({} as Record<string, unknown>).polluted, undefined)
  const json = readTexts({
    'a.json':
      '{"apiVersion":"croft.dev/v1alpha1","kind":"Host","metadata":{"name":"a"},"spec":{"__proto__":{"polluted":1}}}',
  })
  assert.match(told(json.problems).join(), /bad-key 1:\d+ __proto__/)
  assert.equal(({} as Record<string, unknown>).polluted, undefined)
})

test('[S-11] more keys than a manifest can have are refused', () => {
  const many = Array.from({ length: 300_000 }, (_, index) => `k${index}:`).join('\n')
  assert.match(refused(`apiVersion: croft.dev/v1alpha1\nkind: Host\n${many}`)[0] ?? '', /^too-large 1:1 /)
})

test('[S-13] bombs, depth, duplicate keys, tags and directives are refused with their line', () => {
  const lists = [
    'a: &a [x,x,x,x,x,x,x,x,x]',
    ...'bcdefghi'.split('').map((name, index) => {
      const before = 'abcdefghi'[index]
      return `${name}: &${name} [*${before},*${before},*${before},*${before},*${before},*${before},*${before},*${before},*${before}]`
    }),
  ]
  const cases: readonly (readonly [string, RegExp])[] = [
    [lists.join('\n'), /^aliases \d:\d+ more than 100 aliases/],
    ['['.repeat(20_000) + ']'.repeat(20_000), /^too-deep 1:/],
    [`a: ${'['.repeat(100)}${']'.repeat(100)}`, /^too-deep 1:/],
    [Array.from({ length: 300 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'), /^too-deep \d+:/],
    [vmManifest('vmId: 100\nvmId: 101'), /^duplicate-key 9:5 the key vmId is in one map twice/],
    [vmManifest('name: !!js/function "function () {}"'), /^tag 8:\d+ /],
    [vmManifest('name: !secret x'), /^tag 8:\d+ /],
    ['%YAML 1.1\n---\nkind: Host\n', /^directive 1:1 /],
    [vmManifest('\tname: x'), /^(?:tab|yaml-syntax) 8:\d+ /],
    [vmManifest('name: *nobody'), /^unknown-alias 8:11 no anchor is called nobody/],
    [vmManifest('disk: &a [*a]'), /^too-deep 8:/],
    [
      'kind: Machine\na: b: c',
      /^yaml-syntax 2:.*\(correct it; if this file is not a manifest, name it in \.croftignore\)$/,
    ],
    ['kind: Machine\na: "x', /^yaml-syntax 2:/],
    [
      'kind: Machine\na:\n\tb: 1',
      /^tab 3:1 .*\(indent with spaces; if this file is not a manifest, name it in \.croftignore\)$/,
    ],
    [vmManifest('name: b: c'), /^yaml-syntax 8:[^(]*$/],
  ]
  for (const [text, expected] of cases) assert.match(refused(text)[0] ?? '', expected)
  assert.ok(readText('kind: Machine\na: b: c').incomplete)
})

test('[S-13] only UTF-8 without byte order mark and with one kind of line end is read', () => {
  const file = (bytes: Uint8Array) =>
    told(readFiles({ files: [{ path: 'a.yaml', bytes }], links: [] }).problems)[0] ?? ''
  assert.match(file(Buffer.from('\ufeffkind: Machine')), /^encoding 1:1 .*byte order mark \(UTF-8\)/)
  assert.match(file(Buffer.from('\ufeffkind: Machine', 'utf16le')), /^encoding 1:1 .*\(UTF-16\)/)
  assert.match(
    file(Buffer.concat([Buffer.from('kind: Machine\n '), Buffer.of(0xff)])),
    /^encoding 2:2 the file is not UTF-8/,
  )
  assert.match(file(Buffer.from('kind: Host\nb: \u0000')), /^control-character 2:4 .*U\+0000/)
  assert.match(file(Buffer.from('kind: Host\nb: \u001b[31m')), /^control-character 2:4 .*U\+001B/)
  assert.match(file(Buffer.from('kind: Host\r\nb: 2\nc: 3\r\n')), /^line-ends 2:5 /)
  assert.match(file(Buffer.from('kind: Host\rb: 2')), /^line-ends 1:11 /)
  const crlf = readText(vmManifest('vmId: 100').replaceAll('\n', '\r\n'))
  assert.deepEqual(told(crlf.problems), [])
  assert.equal(crlf.declarations.length, 1)
})

test('[S-14] what two readers would read differently is refused or exact, never silently changed', () => {
  const machine = (memory: string) =>
    `apiVersion: croft.dev/v1alpha1\nkind: Machine\nmetadata: {name: a}\nspec:\n  host: a\n  cpu: {cores: 1}\n  memory: ${memory}\n`
  const cases: readonly (readonly [string, RegExp])[] = [
    [
      vmManifest('machine: 1.10'),
      /^ambiguous-number 8:14 1\.10 would be read as the number 1\.1 \(write "1\.10" in quotes/,
    ],
    [vmManifest('vmId: 1e3'), /^ambiguous-number 8:11 1e3 would be read as the number 1000/],
    [vmManifest('vmId: 0177'), /^ambiguous-number 8:11 0177/],
    [vmManifest('vmId: 0o177'), /^ambiguous-number 8:11 /],
    [vmManifest('started: NO'), /^wrong-type 8:14 started is "NO"; expected true or false \(write false\)/],
    [vmManifest('name: 123'), /^wrong-type 8:11 name is 123; expected text \(write it in quotes: "123"\)/],
    [machine('8G'), /^bad-value 7:11 memory is "8G"; expected a size like 4Gi/],
    [machine('8192'), /^wrong-type 7:11 memory is 8192; expected a size like 4Gi/],
  ]
  for (const [text, expected] of cases) {
    const problems = refused(text)
    assert.equal(problems.length, 1, problems.join('\n'))
    assert.match(problems[0] ?? '', expected)
  }
  const kept = readText(machine('8Gi'))
  assert.deepEqual(told(kept.problems), [])
})

test('[S-15] storages, snippets and file names cannot leave their place', () => {
  const path = '../../../etc/sudoers.d/x'
  for (const fields of [
    `disk:\n  - {interface: scsi0, datastoreId: "${path}"}`,
    `disk:\n  - {interface: scsi0, importFrom: "local:import/${path}"}`,
    `initialization: {userDataFileId: "local:snippets/${path}"}`,
    `initialization: {userDataFileId: "/etc/shadow"}`,
    `poolId: ${path}`,
  ]) {
    assert.match(refused(vmManifest(fields))[0] ?? '', /^bad-value [89]:\d+ /, fields)
  }
  const file = (name: string) =>
    `apiVersion: virtualenvironmentdownloadfile.crossplane.io/v1alpha1\nkind: EnvironmentDownloadFile\nmetadata: {name: a}\nspec:\n  forProvider:\n    nodeName: pve1\n    datastoreId: local\n    contentType: iso\n    url: https://example.org/a.iso\n    fileName: "${name}"\n`
  for (const name of [path, '/etc/passwd', '.hidden.iso', '-x.iso', 'a b.iso']) {
    assert.match(refused(file(name))[0] ?? '', /^bad-value 10:15 fileName/)
  }
  assert.equal(readText(file('debian-13.iso')).declarations.length, 1)
})

test('messages show foreign text without anything that moves a cursor', () => {
  const revision = readText('apiVersion: croft.dev/v1alpha1\nkind: "Mach\\e[31mine"\nmetadata: {name: a}\nspec: {}\n')
  const [problem] = revision.problems
  assert.equal(problem?.code, 'unknown-kind')
  assert.doesNotMatch(Object.values(problem ?? {}).join(' '), /[\u0000-\u0009\u000b-\u001f]/)
})

test('any text at all gives declarations or problems with places, and never throws', () => {
  const line = fc.constantFrom(
    'apiVersion: croft.dev/v1alpha1',
    'apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1',
    'kind: Machine',
    'kind: EnvironmentVM',
    'kind: List',
    'metadata:',
    '  name: a',
    '  labels: [1]',
    'spec:',
    '  forProvider:',
    '    cpu: [{cores: 1}, 2]',
    '    disk: [[]]',
    '    disk: {interface: scsi0}',
    'items:',
    '- kind: Host',
    '  - &a',
    '    *a',
    '---',
    '...',
    'spec: null',
    'metadata: []',
    'spec: [1]',
    '    initialization: {ipConfig: {ipv4: [{address: 1}]}}',
    '  <<: *a',
    '? [a]',
    ': |',
    '  x',
    '\u0000',
    '\t',
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(line, { maxLength: 12 }).map((lines) => lines.join('\n')),
        fc.string({ unit: 'binary', maxLength: 60 }),
      ),
      (text) => {
        const revision = readText(text)
        const lines = text.split('\n').length
        for (const problem of revision.problems) {
          assert.ok(problem.origin.line >= 1 && problem.origin.line <= lines, JSON.stringify(problem))
          assert.ok(problem.origin.column >= 1, JSON.stringify(problem))
          assert.ok(problem.message.length > 0)
        }
      },
    ),
    { numRuns: 800, seed: 21 },
  )
})

test('a JSON file without any bracket is left alone; one that breaks off stops the plan', () => {
  for (const text of ['', '\n', 'remember: mode 600', '"text"', '12'])
    assert.deepEqual(told(readTexts({ 'acme.json': text }).problems), [], text)
  assert.match(told(readTexts({ 'acme.json': '{"apiVersion": "croft.dev/v1alpha1",' }).problems).join(), /syntax/)
})

test('a broken file of variables of Ansible stops nothing; the same with a field of a manifest does', () => {
  const variables = "message: 'a\n'''\nscaleway_org: '{{ scw_org }}'\n"
  const read = readTexts({ 'roles/scaleway/defaults/main.yml': variables })
  assert.deepEqual(errorsOf(read), [])
  assert.match(told(read.problems).join(), /left alone, because it holds variables of Ansible/)
  for (const more of ['spec: {}\n', 'kind: Network\n', 'apiversion: x\n', '# of croft.dev/v1alpha1\n'])
    assert.notDeepEqual(errorsOf(readTexts({ 'a.yml': variables + more })), [], more)
  assert.notDeepEqual(errorsOf(readTexts({ 'a.yml': variables.replace('{{ scw_org }}', 'x') })), [])
})

test('files of other programs that nobody can read stop nothing and are named with what is wrong', () => {
  const read = readTexts({
    'website/tsconfig.json': '{\n  // for the editor\n  "extends": "x",\n}\n',
    'roles/tasks/main.yml': '---\n- name: wait\n  shell: echo a: b: c\n',
    'omni/cluster.yaml': 'kind: Cluster\nname: prod\nkubernetes: {version: v1.36.4}\n',
  })
  assert.deepEqual(told(read.problems), [])
  assert.deepEqual(
    read.ignored.map(({ file, note }) => `${file}: ${note}`),
    [
      'website/tsconfig.json: not an object',
      'roles/tasks/main.yml: a list, no manifest, and not readable (line 3: Nested mappings are not allowed in compact mappings)',
      'omni/cluster.yaml: not a manifest',
    ],
  )
})

test('what nobody can read stops the plan only if a declaration can be in it; otherwise its first slip is a warning', () => {
  const slip = 'a: b: c\n'
  const table: readonly (readonly [string, 'error' | 'warning'])[] = [
    [`apiVersion: apps/v1\nkind: Deployment\n${slip}`, 'warning'],
    [`apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n${slip}${slip}`, 'warning'],
    [`apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1\nkind: ProxmoxMachine\n${slip}`, 'warning'],
    ['{"apiVersion": "v1", "kind": "ConfigMap", "a": [1, 2,]}', 'warning'],
    [`apiVersion: croft.dev/v1alpha1\nkind: Network\n${slip}`, 'error'],
    [`apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1\n${slip}`, 'error'],
    [`apiVersion: v1\nkind: List\nitems:\n  - apiVersion: croft.dev/v1alpha1\n${slip}`, 'error'],
    // Garbage in the place of a declaration may name nothing.
    [slip, 'error'],
    ['kind: [unclosed', 'error'],
    // A kind that the user may have defined, with a typing error in its words.
    [`apiVersion: platform.example.org/v1\nkind: Web\n${slip}`, 'error'],
    [`kind: Machine\n${slip}`, 'error'],
    [`apiversion v1\nkind: X\n${slip}`, 'error'],
  ]
  for (const [text, severity] of table) {
    const read = readTexts({ [text.startsWith('{') ? 'a.json' : 'a.yaml']: text })
    assert.ok(read.problems.length > 0, text)
    assert.deepEqual([...new Set(read.problems.map((problem) => problem.severity))], [severity], text)
    assert.equal(read.incomplete, severity === 'error', text)
    if (severity === 'warning') assert.equal(read.problems.length, 1, text)
  }
})

test('a file that is no plain text is named and stops nothing if no declaration can be in it', () => {
  const read = readTexts({
    'dashboard.json': '{"url": "a\ufeffb"}',
    'ours.yaml': 'apiVersion: croft.dev/v1alpha1\na: \ufeff\n',
  })
  assert.deepEqual(told(read.problems).length, 1)
  assert.match(told(read.problems).join(), /^control-character .*U\+FEFF/)
  assert.deepEqual(
    read.ignored.map(({ file, note }) => `${file}: ${note}`),
    ['dashboard.json: not plain text, and it names no apiVersion'],
  )
})

test('a manifest with a slip of the pen is told by the first places where the reader stumbles', () => {
  const slip = Array.from({ length: 20 }, (_, index) => `  a${index}: b: c\n`).join('')
  assert.equal(
    readTexts({ 'a.yaml': `apiVersion: croft.dev/v1alpha1\nkind: Machine\nspec:\n${slip}` }).problems.length,
    3,
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findKind } from '../../kinds/registry.ts'
import { link } from '../../plan/link.ts'
import { errorsOf, readTexts, told } from '../testing/fixture.ts'

const GRAPH = `apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata:
  name: k3snode
spec:
  schema:
    apiVersion: v1alpha1
    kind: K3sNode
    spec:
      host: string | required=true
      memory: string | default="4Gi"
      cores: integer | default=2 minimum=1 maximum=16 validation="self != 13"
      cluster: string | default=home
      tools:
        enabled: boolean | default=false
        names: "[]string | uniqueItems=true"
    status:
      vm: \${vm.metadata.name}
      addresses: \${vm.status.addresses}
  resources:
    - id: tools
      forEach:
        - tool: \${schema.spec.tools.names}
      includeWhen:
        - \${schema.spec.tools.enabled}
      template:
        apiVersion: croft.dev/v1alpha1
        kind: Addon
        metadata:
          name: \${schema.metadata.name}-\${tool}
        spec:
          cluster: \${schema.spec.cluster}
          objects:
            - apiVersion: v1
              kind: ConfigMap
              metadata: {name: "\${tool}", namespace: default}
              data: {node: "\${vm.metadata.name}"}
    - id: vm
      readyWhen:
        - \${vm.status.power == "running" && size(vm.status.addresses) > 0}
      template:
        apiVersion: croft.dev/v1alpha1
        kind: Machine
        metadata:
          name: \${schema.metadata.name}
          labels: {k3s: "\${schema.spec.cluster}"}
        spec:
          host: \${schema.spec.host}
          cpu:
            cores: \${schema.spec.cores}
          memory: \${schema.spec.memory}
`

const INSTANCE = `apiVersion: kro.run/v1alpha1
kind: K3sNode
metadata:
  name: agent-1
spec:
  host: cow
  memory: 8Gi
  tools: {enabled: true, names: [lldp, smart]}
`

function declared(texts: Readonly<Record<string, string>>) {
  const revision = readTexts(texts)
  const objects = revision.declarations.map(({ key, spec, policy, composedBy }) => ({
    key,
    spec,
    ...(policy.after === undefined ? {} : { after: policy.after }),
    ...(policy.readyWhen === undefined ? {} : { readyWhen: policy.readyWhen }),
    by: composedBy?.instance,
  }))
  return { revision, objects: objects.toSorted((a, b) => (a.key < b.key ? -1 : 1)) }
}

test('readyWhen may go through a list: the names of its entries are of no resource', () => {
  const graph = GRAPH.replace(
    /vm\.status\.power == "running"[^}]*/,
    'vm.status.conditions.exists(x, x.type == "Ready" && x.status == "True") && vm.status.addresses.all(vm, vm != "")',
  )
  assert.notEqual(graph, GRAPH)
  assert.deepEqual(told(readTexts({ 'g.yaml': graph }).problems), [])
})

test('an instance becomes what its graph says, in the order of what takes values from what', () => {
  const { revision, objects } = declared({ 'graph.yaml': GRAPH, 'nodes/agent-1.yaml': INSTANCE })
  assert.deepEqual(told(revision.problems), [])
  assert.deepEqual(
    objects.map(({ key, after, by }) => [key, after, by]),
    [
      ['Addon/agent-1-lldp', ['Machine/agent-1'], 'K3sNode/agent-1'],
      ['Addon/agent-1-smart', ['Machine/agent-1'], 'K3sNode/agent-1'],
      ['Machine/agent-1', undefined, 'K3sNode/agent-1'],
    ],
  )
  const machine = objects[2]
  assert.partialDeepStrictEqual(machine?.spec, { host: 'cow', cpu: { cores: 2 }, memory: '8Gi' })
  assert.deepEqual(machine?.readyWhen, ['self.status.power == "running" && size(self.status.addresses) > 0'])
  assert.partialDeepStrictEqual(objects[0]?.spec, {
    cluster: 'home',
    objects: [{ metadata: { name: 'lldp' }, data: { node: 'agent-1' } }],
  })
  const [origin] = revision.declarations
    .filter(({ kind }) => kind === 'Machine')
    .map((one) => [one.origin, one.composedBy])
  assert.partialDeepStrictEqual(origin, [
    { file: 'graph.yaml', line: 41 },
    { origin: { file: 'nodes/agent-1.yaml', line: 1 }, definition: 'ResourceGraphDefinition/k3snode' },
  ])
  assert.deepEqual(revision.ignored, [])
  assert.deepEqual(
    revision.apis?.map(({ kind, apiVersion }) => `${apiVersion} ${kind}`),
    ['kro.run/v1alpha1 K3sNode'],
  )
})

test('what includeWhen leaves out is left out with everything that takes values from it', () => {
  const { objects } = declared({ 'a.yaml': `${GRAPH}---\n${INSTANCE.replace('enabled: true', 'enabled: false')}` })
  assert.deepEqual(
    objects.map(({ key }) => key),
    ['Machine/agent-1'],
  )
})

test('what takes values from a resource that is left out is left out as well', () => {
  const without = GRAPH.replace('    - id: vm\n', `    - id: vm\n      includeWhen: ["\${schema.spec.cores > 2}"]\n`)
  const keys = (cores: number) =>
    declared({ 'g.yaml': without, 'i.yaml': `${INSTANCE}  cores: ${cores}\n` }).objects.map(({ key }) => key)
  assert.deepEqual(keys(2), [])
  assert.deepEqual(keys(3), ['Addon/agent-1-lldp', 'Addon/agent-1-smart', 'Machine/agent-1'])
})

const WRONG_INSTANCES: readonly (readonly [string, string, string])[] = [
  ['a field that is missing', INSTANCE.replace('  host: cow\n', ''), 'missing-field 5:1 host is missing'],
  [
    'a field that nobody defined',
    `${INSTANCE}  memroy: 1\n`,
    'unknown-field 9:3 "memroy" is not a field of spec (did you mean memory?)',
  ],
  ['the wrong type', `${INSTANCE}  cores: many\n`, 'wrong-type 9:10 cores is "many"; it must be a whole number'],
  ['a value that a rule forbids', `${INSTANCE}  cores: 13\n`, 'bad-value 9:10 cores: it must be that self != 13'],
  [
    'an entry twice',
    INSTANCE.replace('[lldp, smart]', '[lldp, lldp]'),
    'bad-value 8:33 names is a list; it has an entry twice',
  ],
  ['a number outside its range', `${INSTANCE}  cores: 17\n`, 'bad-value 9:10 cores is 17; it must be 16 or less'],
]

for (const [what, text, expected] of WRONG_INSTANCES)
  test(`an instance with ${what} is refused at its place, and nothing is deleted meanwhile`, () => {
    const { revision, objects } = declared({ 'graph.yaml': GRAPH, 'i.yaml': text })
    assert.deepEqual(told(revision.problems).slice(0, 1), [expected])
    assert.equal(revision.problems[0]?.origin.file, 'i.yaml')
    assert.deepEqual(objects, [])
    assert.equal(revision.incomplete, true)
  })

const WRONG_GRAPHS: readonly (readonly [string, string, string, string])[] = [
  [
    'a text that is used as a quantity',
    `\${schema.spec.memory}`,
    `\${string(schema.spec.memory.asInteger())}`,
    'bad-expression 51:19 string(schema.spec.memory.asInteger()): asInteger works on',
  ],
  [
    'a rule that cannot be asked of the type',
    'validation="self != 13"',
    'validation="self.size > 1"',
    'bad-value 12:14 validation="self.size > 1": ',
  ],
  [
    'a rule that answers no yes or no',
    'validation="self != 13"',
    'validation="self + 1"',
    'bad-value 12:14 validation="self + 1" answers ',
  ],
  [
    'a field that the schema has not',
    'schema.spec.host}',
    'schema.spec.hots}',
    'bad-expression 48:17 schema.spec.hots: schema.spec has no field hots; did you mean host?',
  ],
  [
    'a name that nothing has',
    `\${vm.metadata.name}"}`,
    `\${mv.metadata.name}"}`,
    'bad-expression 37:28 mv.metadata.name: nothing here is called mv; did you mean vm?',
  ],
  [
    'a text where a number belongs',
    `cores: \${schema.spec.cores}`,
    `cores: \${schema.spec.host}`,
    'wrong-type 50:20 schema.spec.host is text; cores must be a whole number',
  ],
  [
    'types that do not go together',
    `\${schema.spec.memory}`,
    `\${schema.spec.cores + "Gi"}`,
    'bad-expression 51:19 schema.spec.cores + "Gi": a whole number and text cannot be added',
  ],
  [
    'a function that is none',
    `\${schema.spec.memory}`,
    `\${sise(schema.spec.memory)}`,
    'bad-expression 51:19 sise(schema.spec.memory): there is no function sise; did you mean size?',
  ],
  [
    'a count that is a text',
    `tool: \${schema.spec.tools.names}`,
    `tool: \${lists.range(schema.spec.host)}`,
    'bad-expression 23:17 lists.range(schema.spec.host): it must be a whole number, and is text',
  ],
  [
    'a condition that is a text',
    `- \${schema.spec.tools.enabled}`,
    `- \${schema.spec.host}`,
    'bad-expression 25:11 schema.spec.host is text; it must be true or false',
  ],
  [
    'a loop over a text',
    `tool: \${schema.spec.tools.names}`,
    `tool: \${schema.spec.host}`,
    'bad-expression 23:17 schema.spec.host is text; it must be a list',
  ],
  [
    'a status that croft does not report',
    'vm.status.power ==',
    'vm.status.pwoer ==',
    'bad-expression 40:11 vm.status.pwoer == "running" && size(vm.status.addresses) > 0: vm.status has no field pwoer; did you mean power?',
  ],
  [
    'a status in a template that croft does not report',
    `{node: "\${vm.metadata.name}"}`,
    `{node: "\${vm.status.hots}"}`,
    'bad-expression 37:28 vm.status.hots: vm.status has no field hots; did you mean host?',
  ],
  [
    'no expression at all',
    `\${schema.spec.memory}`,
    `\${schema.spec.}`,
    'bad-expression 51:19 schema.spec.: not an expression in CEL: ',
  ],
  ['a type that is none', 'integer | default=2', 'integr | default=2', 'bad-value 12:14 "integr" is not a type: '],
]

for (const [what, from, to, expected] of WRONG_GRAPHS)
  test(`a graph with ${what} is refused at the line, before there is an instance`, () => {
    assert.ok(GRAPH.includes(from))
    const { revision } = declared({ 'graph.yaml': GRAPH.replace(from, to) })
    assert.ok(
      told(revision.problems).some((line) => line.startsWith(expected)),
      told(revision.problems).join('\n'),
    )
  })

test('the uid of an instance is known in a cluster alone: a graph may read it, and an instance in a file is refused at the line', () => {
  const graph = GRAPH.replace(`\${schema.spec.memory}`, `\${schema.metadata.uid}`)
  assert.deepEqual(told(readTexts({ 'g.yaml': graph }).problems), [])
  const [first] = told(readTexts({ 'g.yaml': graph, 'i.yaml': INSTANCE }).problems)
  assert.match(first ?? '', /^bad-expression 51:19 .*field not found: uid \(for K3sNode\/agent-1\)$/)
})

test('two resources that take values from each other, and an externalRef to a Secret, are refused', () => {
  const circle = GRAPH.replace(`\${schema.spec.memory}`, `\${string(size(tools))}`)
  assert.match(
    told(readTexts({ 'g.yaml': circle }).problems).join(),
    /bad-graph 21:5 tools, vm take values from each other/,
  )
  const outside = `${GRAPH}    - id: token\n      externalRef: {apiVersion: v1, kind: Secret, metadata: {name: token}}\n`
  assert.match(
    told(readTexts({ 'g.yaml': outside }).problems).join(),
    /bad-graph 53:43 the values of a Secret are not read/,
  )
})

test('a value that the kind refuses is told at the template, for the instance', () => {
  const { revision } = declared({ 'g.yaml': GRAPH, 'i.yaml': INSTANCE.replace('8Gi', 'lots') })
  assert.match(told(errorsOf(revision)).join(), /bad-value 51:19 memory is "lots"; .* \(for K3sNode\/agent-1\)/)
  assert.deepEqual(revision.unreadable, ['Machine/agent-1'])
})

test('objects of Kubernetes become add-ons of the cluster that is named, and are refused where none is', () => {
  const app = `apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: {name: app}
spec:
  schema:
    apiVersion: v1alpha1
    kind: App
    spec: {image: string | required=true, replicas: integer | default=3}
  resources:
    - id: service
      template:
        apiVersion: v1
        kind: Service
        metadata: {name: "\${schema.metadata.name}"}
        spec: {selector: "\${deployment.spec.selector.matchLabels}"}
    - id: deployment
      readyWhen: ["\${deployment.status.availableReplicas == deployment.spec.replicas}"]
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: "\${schema.metadata.name}"}
        spec:
          replicas: \${schema.spec.replicas}
          selector: {matchLabels: {app: "\${schema.metadata.name}"}}
          template: {spec: {containers: [{name: app, image: "\${schema.spec.image}"}]}}
---
apiVersion: kro.run/v1alpha1
kind: App
metadata: {name: shop, namespace: web, annotations: {croft.dev/cluster: home}}
spec: {image: "nginx:1"}
`
  const { revision, objects } = declared({ 'a.yaml': app })
  assert.deepEqual(told(revision.problems), [])
  assert.partialDeepStrictEqual(objects, [
    {
      key: 'Addon/shop-deployment',
      spec: {
        objects: [{ kind: 'Deployment', metadata: { name: 'shop', namespace: 'web' }, spec: { replicas: 3 } }],
        ready: [
          { kind: 'Deployment', name: 'shop', expression: 'object.status.availableReplicas == object.spec.replicas' },
        ],
      },
    },
    {
      key: 'Addon/shop-service',
      spec: { objects: [{ spec: { selector: { app: 'shop' } } }] },
      after: ['Addon/shop-deployment'],
    },
  ])
  const bare = readTexts({ 'a.yaml': app.replace(', annotations: {croft.dev/cluster: home}', '') })
  assert.match(
    told(bare.problems).join(),
    /no-cluster 13:15 Service is an object of a cluster, and nothing says of which/,
  )
  assert.equal(bare.incomplete, true)
})

test('a graph may be made of instances of another, and not of itself', () => {
  const pair = `apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: {name: pair}
spec:
  schema: {apiVersion: v1alpha1, kind: Pair, spec: {host: string}}
  resources:
    - id: nodes
      forEach: [{suffix: "\${['a', 'b']}"}]
      template:
        apiVersion: kro.run/v1alpha1
        kind: K3sNode
        metadata: {name: "\${schema.metadata.name + '-' + suffix}"}
        spec: {host: "\${schema.spec.host}"}
---
apiVersion: kro.run/v1alpha1
kind: Pair
metadata: {name: p}
spec: {host: cow}
`
  const { revision, objects } = declared({ 'a.yaml': GRAPH, 'b.yaml': pair })
  assert.deepEqual(told(revision.problems), [])
  assert.deepEqual(
    objects.map(({ key }) => key),
    ['Machine/p-a', 'Machine/p-b'],
  )
  const counted = pair.replace(`['a', 'b']`, 'lists.range(2)').replace('+ suffix', '+ string(suffix)')
  assert.deepEqual(
    declared({ 'a.yaml': GRAPH, 'b.yaml': counted }).objects.map(({ key }) => key),
    ['Machine/p-0', 'Machine/p-1'],
  )
  const endless = readTexts({ 'a.yaml': pair.replace('kind: K3sNode', 'kind: Pair') })
  assert.match(told(endless.problems).join(), /Pair is made of itself/)
})

test('an instance of another graph comes after what it refers to, with everything that it becomes', () => {
  const chain = `apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: {name: chain}
spec:
  schema: {apiVersion: v1alpha1, kind: Chain, spec: {host: string}}
  resources:
    - id: base
      template:
        apiVersion: croft.dev/v1alpha1
        kind: Machine
        metadata: {name: "\${schema.metadata.name}-base"}
        spec: {host: cow, cpu: {cores: 1}, memory: 1Gi}
    - id: node
      template:
        apiVersion: kro.run/v1alpha1
        kind: K3sNode
        metadata: {name: "\${schema.metadata.name}-node", labels: {of: "\${base.metadata.name}"}}
        spec: {host: "\${schema.spec.host}", tools: {enabled: true, names: [lldp]}}
    - id: last
      template:
        apiVersion: croft.dev/v1alpha1
        kind: Machine
        metadata: {name: "\${schema.metadata.name}-last", labels: {of: "\${node.metadata.name}"}}
        spec: {host: cow, cpu: {cores: 1}, memory: 1Gi}
---
apiVersion: kro.run/v1alpha1
kind: Chain
metadata: {name: c}
spec: {host: cow}
`
  const { revision, objects } = declared({ 'a.yaml': GRAPH, 'b.yaml': chain })
  assert.deepEqual(told(revision.problems), [])
  assert.deepEqual(
    objects.map(({ key, after }) => [key, after]),
    [
      ['Addon/c-node-lldp', ['Machine/c-base', 'Machine/c-node']],
      ['Machine/c-base', undefined],
      ['Machine/c-last', ['Addon/c-node-lldp', 'Machine/c-node']],
      ['Machine/c-node', ['Machine/c-base']],
    ],
  )
})

test('the graph of a homelab: ids with dashes, dependsOn, a group of its own, and a wait that is written at the dependent', () => {
  const graph = `apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: {name: k3s-node-with-workload, annotations: {croft.dev/cluster: home}}
spec:
  schema:
    apiVersion: homelab.io/v1alpha1
    kind: K3sNode
    spec: {nodeName: string, memoryGB: integer}
  resources:
    - id: proxmox-vm
      template:
        apiVersion: croft.dev/v1alpha1
        kind: Machine
        metadata: {name: "\${schema.spec.nodeName}"}
        spec: {host: cow, cpu: {cores: 1}, memory: "\${string(schema.spec.memoryGB * 1024)}Mi"}
    - id: workload-deployment
      dependsOn: [proxmox-vm]
      readyWhen:
        - \${proxmox-vm.status.power == "running"}
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: work, namespace: default}
---
apiVersion: homelab.io/v1alpha1
kind: K3sNode
metadata: {name: n}
spec: {nodeName: agent-9, memoryGB: 2}
`
  const { revision, objects } = declared({ 'a.yaml': graph })
  assert.deepEqual(told(revision.problems), [])
  assert.partialDeepStrictEqual(objects, [
    { key: 'Addon/n-workload-deployment', after: ['Machine/agent-9'] },
    { key: 'Machine/agent-9', spec: { memory: '2048Mi' }, readyWhen: ['self.status.power == "running"'] },
  ])
})

test('documents of these groups that croft makes nothing of are named, and an instance without a definition is an error', () => {
  const texts = {
    'a.yaml': `apiVersion: kro.run/v1alpha1\nkind: GraphRevision\nmetadata: {name: r}\n`,
    'b.yaml': INSTANCE,
    'c.yaml': `apiVersion: apiextensions.crossplane.io/v1\nkind: Usage\nmetadata: {name: u}\n`,
  }
  const { revision } = declared(texts)
  assert.deepEqual(
    revision.problems.map(({ severity, code, origin }) => [severity, code, origin.file]),
    [
      ['warning', 'kind-not-kept', 'a.yaml'],
      ['error', 'unknown-kind', 'b.yaml'],
      ['warning', 'kind-not-kept', 'c.yaml'],
    ],
  )
  assert.equal(revision.incomplete, true)
})

test('the order of files and of documents changes nothing', () => {
  const documents = [GRAPH, INSTANCE, INSTANCE.replace('agent-1', 'agent-2'), INSTANCE.replace('agent-1', 'agent-3')]
  const keyed = (texts: readonly string[]) =>
    JSON.stringify(declared(Object.fromEntries(texts.map((text, index) => [`${index}.yaml`, text]))).objects)
  const expected = keyed(documents)
  fc.assert(
    fc.property(fc.shuffledSubarray(documents, { minLength: 4 }), (texts) => keyed(texts) === expected),
    { numRuns: 20 },
  )
})

test('what an instance becomes is linked like anything that somebody wrote', () => {
  const ground = `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: home}
spec: {endpoint: "https://pve:8006", fingerprint: "${Array.from({ length: 32 }, () => 'AA').join(':')}", token: {env: TOKEN}}
---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: cow}
spec: {bindings: {storages: {disks: local-lvm}}}
`
  const read = readTexts({
    'a.yaml': ground,
    'g.yaml': GRAPH,
    'i.yaml': INSTANCE.replace('enabled: true', 'enabled: false'),
  })
  const estate = link(read, { findKind, problemAt: read.problemAt })
  assert.deepEqual(told(estate.problems), [])
  assert.deepEqual(
    estate.resources.map(({ key }) => key),
    ['Machine/agent-1'],
  )
})

test('an optional value that is not there leaves its field out, and orValue stands in for it', () => {
  const graph = (host: string) => GRAPH.replace(`\${schema.spec.host}`, host)
  const optional = graph(`\${schema.metadata.?labels["host"].orValue(schema.spec.host)}`).replace(
    'host: string | required=true',
    'host: string | default=cow',
  )
  const hosts = (instance: string) =>
    readTexts({ 'a.yaml': optional, 'b.yaml': instance }).declarations.flatMap(({ kind, spec }) =>
      kind === 'Machine' ? [(spec as { readonly host?: string }).host] : [],
    )
  assert.deepEqual(hosts(INSTANCE), ['cow'])
  assert.deepEqual(hosts(INSTANCE.replace('name: agent-1', 'name: agent-1\n  labels: {host: goat}')), ['goat'])
  const left = GRAPH.replace(
    `labels: {k3s: "\${schema.spec.cluster}"}`,
    `labels: {k3s: "\${schema.metadata.?labels.zone}"}`,
  )
  assert.notEqual(left, GRAPH)
  assert.deepEqual(told(readTexts({ 'a.yaml': left, 'b.yaml': INSTANCE }).problems), [])
  for (const [written, said] of [
    [graph(`\${schema.spec.?hots}`), /48:17 .*schema.spec has no field hots; did you mean host\?/],
    [graph(`\${schema.spec.?host + "x"}`), /needs orValue\(…\) before \+ can take it/],
    [graph(`a-\${schema.spec.?host}`), /may be missing and cannot be a part of a text/],
  ] as const)
    assert.match(told(readTexts({ 'a.yaml': written }).problems).join(), said)
})

test('what makes a template no object is found before there is an instance, as kro does', () => {
  const graph = (resource: string, more = '') => `apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: {name: g}
spec:
  schema:
    apiVersion: v1alpha1
    kind: Thing
    spec: {names: "[]string", size: integer}
${more}  resources:
    - id: one
      ${resource}
`
  const of = (template: string) => graph(`template: ${template}`)
  for (const [text, said] of [
    [of('{kind: ConfigMap, metadata: {name: a}}'), 'a template needs an apiVersion like apps/v1'],
    [of('{apiVersion: a/b/c, kind: ConfigMap, metadata: {name: a}}'), 'a template needs an apiVersion like apps/v1'],
    [of('{apiVersion: v1, metadata: {name: a}}'), 'a template needs a kind like Deployment'],
    [of('{apiVersion: v1, kind: ConfigMap}'), 'a template needs metadata with a name'],
    [of('{apiVersion: v1, kind: Namespace, metadata: {name: a, namespace: b}}'), 'a Namespace is in no namespace'],
    [
      of(`{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {n: "\${schema.spec.names}"}}`),
      'n must be text',
    ],
    [of(`{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {n: "\${schema.spec.size}"}}}`), 'n must be text'],
    [
      graph(
        `forEach: [{n: "\${schema.spec.names}"}]\n      template: {apiVersion: v1, kind: Pod, metadata: {name: a}}`,
      ),
      'n is not in the name of the object',
    ],
    [
      graph('template: {apiVersion: v1, kind: Pod, metadata: {name: a}}', '    status: {ready: "yes"}\n'),
      'ready has no expression',
    ],
    [
      graph('template: {apiVersion: v1, kind: Pod, metadata: {name: a}}', `    status: {ready: "\${true}"}\n`),
      'true says nothing of a resource or of the schema',
    ],
    [
      graph('template: {apiVersion: v1, kind: Pod, metadata: {name: a}}', `    status: {x: "\${one.metadata.nam}"}\n`),
      'one.metadata has no field nam; did you mean name?',
    ],
    [
      of(`{apiVersion: v1, kind: Pod, metadata: {name: "\${schema.metadata.namespace}"}}`).replace(
        'kind: Thing',
        'kind: Thing\n    scope: Cluster',
      ),
      'schema.metadata has no field namespace',
    ],
    [
      of('{apiVersion: v1, kind: Pod, metadata: {name: a}}').replace('kind: Thing', 'kind: thing'),
      'thing is no name of a kind',
    ],
  ] as const) {
    const problems = told(readTexts({ 'a.yaml': text }).problems).join()
    assert.ok(problems.includes(said), `${problems}\nlacks: ${said}\n${text}`)
    assert.match(problems, / \d+:\d+ /)
  }
})

test('an object that is in no namespace gets none from its instance', () => {
  const text = `apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: {name: g, annotations: {croft.dev/cluster: home}}
spec:
  schema: {apiVersion: v1alpha1, kind: Thing, spec: {}}
  resources:
    - id: space
      template: {apiVersion: v1, kind: Namespace, metadata: {name: a}}
    - id: config
      template: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
---
apiVersion: kro.run/v1alpha1
kind: Thing
metadata: {name: t, namespace: team}
spec: {}
`
  const read = readTexts({ 'a.yaml': text })
  assert.deepEqual(told(read.problems), [])
  const objects = read.declarations.flatMap(({ spec }) => (spec as { readonly objects: readonly unknown[] }).objects)
  assert.deepEqual(
    objects.map((one) => ({ ...(one as { readonly metadata: object }).metadata })),
    [{ name: 'a' }, { name: 'a', namespace: 'team' }],
  )
})

test('a graph that makes nothing is one', () => {
  const noop = `apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: {name: noop}
spec: {schema: {apiVersion: v1alpha1, kind: Noop, spec: {name: string}}}
---
apiVersion: kro.run/v1alpha1
kind: Noop
metadata: {name: a}
spec: {name: a}
`
  assert.deepEqual(told(readTexts({ 'a.yaml': noop }).problems), [])
})

test('instances of a kind whose definition has errors name the place of that definition', () => {
  const instance = 'apiVersion: kro.run/v1alpha1\nkind: K3sNode\nmetadata: {name: a}\nspec: {host: pve1}\n'
  const said = 'the definition of K3sNode at graph.yaml:1:1 has errors, so croft cannot expand it: correct those first'
  const own = (text: string) => text.replace('kind: K3sNode', 'group: home.lab\n    kind: K3sNode')
  const table: readonly (readonly [what: string, graph: string, instance: string])[] = [
    ['an expression', GRAPH.replace('schema.spec.host', 'schema.spec.hots'), instance],
    ['a group of its own', own(GRAPH.replace('spec.host', 'spec.hots')), instance.replace('kro.run', 'home.lab')],
    ['a key twice', GRAPH.replace('kind: Machine', 'kind: Machine\n        kind: Machine'), instance],
    ['no YAML', `${GRAPH}   x: [\n`, instance],
  ]
  for (const [what, graph, text] of table) {
    const revision = readTexts({ 'graph.yaml': graph, 'instance.yaml': text })
    const [first] = errorsOf(revision).filter(({ origin }) => origin.file === 'instance.yaml')
    assert.equal(first?.message, said, what)
    assert.ok(
      errorsOf(revision).some(({ origin }) => origin.file === 'graph.yaml'),
      what,
    )
    assert.equal(revision.incomplete, true, what)
  }
  const without = readTexts({ 'graph.yaml': GRAPH.replace('kind: K3sNode', 'kind: Other'), 'instance.yaml': instance })
  assert.match(told(errorsOf(without)).join(), /no ResourceGraphDefinition here defines K3sNode/)
})

test('what kro called its definitions before 0.2 is named as that', () => {
  const old = GRAPH.replace('kind: ResourceGraphDefinition', 'kind: ResourceGroup')
  const [first] = errorsOf(readTexts({ 'graph.yaml': old }))
  assert.match(first?.message ?? '', /^ResourceGroup is what kro before 0\.2 called a ResourceGraphDefinition/)
  assert.equal(first?.hint, 'write kind: ResourceGraphDefinition')
})

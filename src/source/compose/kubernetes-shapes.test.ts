import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readComposition } from './composition.ts'
import { readGraph } from './graph.ts'
import { kubernetesShape } from './kubernetes-shapes.ts'

const DEPLOYMENT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: `\${schema.spec.replicas}`,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: `\${schema.spec.name}` } },
      spec: {
        containers: [
          {
            name: 'web',
            image: `web:\${schema.spec.name}`,
            env: [{ name: 'PORT', value: `\${string(schema.spec.replicas)}` }],
            ports: [{ containerPort: 80 }],
            resources: { limits: { memory: '64Mi', cpu: 1 } },
            livenessProbe: { httpGet: { port: 'http' } },
          },
        ],
      },
    },
  },
}

/** The template with one field of it changed. */
function changed(path: string, value: unknown, template: object = DEPLOYMENT): object {
  const copy = structuredClone(template) as Record<string, unknown>
  const steps = path.split('.')
  let at = copy
  for (const step of steps.slice(0, -1)) at = at[step] as Record<string, unknown>
  at[steps.at(-1) ?? ''] = value
  return copy
}

function said(template: object, others: readonly object[] = [], status: object = {}): readonly string[] {
  const { graph, problems } = readGraph({
    apiVersion: 'kro.run/v1alpha1',
    kind: 'ResourceGraphDefinition',
    metadata: { name: 'web' },
    spec: {
      schema: { apiVersion: 'v1alpha1', kind: 'Web', spec: { name: 'string', replicas: 'integer' }, status },
      resources: [{ id: 'web', template }, ...others],
    },
  })
  const texts = problems.map(
    ({ severity = 'error', path, message, hint }) =>
      `${severity} ${path.slice(3).join('.')}: ${message}${hint === undefined ? '' : ` (${hint.slice(0, 60)})`}`,
  )
  assert.equal(
    graph === undefined,
    texts.some((text) => text.startsWith('error')),
    'only an error makes a graph unusable',
  )
  return texts
}

test('objects that every cluster knows are checked by their fields: wrong types are errors, unknown names are warnings', () => {
  const container = 'spec.template.spec.containers.0'
  for (const [path, value, expected] of [
    [
      'spec.replicas',
      `\${schema.spec.name}`,
      'error template.spec.replicas: schema.spec.name is text; replicas must be a whole number',
    ],
    ['spec.replicas', 'three', 'error template.spec.replicas: replicas is "three"; it must be a whole number'],
    ['spec.replicas', null, undefined],
    [
      'spec.replcas',
      3,
      'warning template.spec.replcas: "replcas" is not a field of resources[0].template.spec (did you mean replicas?)',
    ],
    ['spec.paused', 'yes', undefined],
    [
      'spec.template.spec.containers',
      {},
      'error template.spec.template.spec.containers: containers is a block of fields; it must be a list',
    ],
    [
      `${container}.ports.0.containerPort`,
      `8\${schema.spec.name}`,
      `error template.spec.template.spec.containers.0.ports.0.containerPort: containerPort is "8\${schema.spec.name}"; it must be a whole number`,
    ],
    [
      `${container}.env.0.value`,
      80,
      'error template.spec.template.spec.containers.0.env.0.value: value is 80; it must be text',
    ],
    [
      `${container}.env.0.value`,
      `\${schema.spec.replicas}`,
      'error template.spec.template.spec.containers.0.env.0.value: schema.spec.replicas is a whole number; value must be text',
    ],
    [`${container}.livenessProbe.httpGet.port`, `\${schema.spec.replicas}`, undefined],
    [`${container}.resources.limits.cpu`, `\${schema.spec.replicas}`, undefined],
    [
      'spec.template.metadata.labels.app',
      true,
      'error template.spec.template.metadata.labels.app: app is true; it must be text',
    ],
  ] as const)
    assert.deepEqual(said(changed(path, value)), expected === undefined ? [] : [expected], path)
  assert.deepEqual(said(DEPLOYMENT), [])
})

test('what is asked of such an object is typed by its fields', () => {
  const map = (value: string) => ({
    id: 'map',
    template: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data: { value } },
  })
  for (const [value, expected] of [
    [`\${web.status.conditions[0].reason}`, undefined],
    [`\${web.metadata.uid}`, undefined],
    [
      `\${web.status.readyReplica}`,
      'warning template.data.value: web.status.readyReplica: web.status has no field readyReplica; did you mean readyReplicas?',
    ],
    [
      `\${web.status.readyReplicas}`,
      'error template.data.value: web.status.readyReplicas is a whole number; value must be text',
    ],
    [`\${string(web.status.readyReplicas)}`, undefined],
  ] as const)
    assert.deepEqual(said(DEPLOYMENT, [map(value)]), expected === undefined ? [] : [expected], value)
  assert.deepEqual(said(DEPLOYMENT, [], { up: `\${web.status.readyReplica}` }), [
    'warning up: web.status.readyReplica: web.status has no field readyReplica; did you mean readyReplicas?',
  ])
})

test('the base of a composition is checked too; a patch may yet write over what is wrong there, and so it only warns', () => {
  const { parts, problems } = readComposition(
    {
      spec: {
        resources: [
          {
            name: 'web',
            base: changed('spec.replicas', 'three'),
            patches: [
              { fromFieldPath: 'spec.name', toFieldPath: 'spec.replicas' },
              { fromFieldPath: 'spec.name', toFieldPath: 'spec.template.spec.nodeName' },
            ],
          },
        ],
      },
    },
    { spec: { type: 'object', properties: { name: { type: 'string' } } }, status: {} },
  )
  assert.equal(parts.length, 1)
  assert.deepEqual(
    problems.map(({ severity = 'error', message }) => `${severity} ${message}`),
    [
      'warning replicas is "three"; it must be a whole number',
      'error spec.replicas must be a whole number, and the patch brings text',
    ],
  )
})

test('an object of a kind that not every cluster knows may have anything', () => {
  const strange = {
    apiVersion: 'rds.services.k8s.aws/v1alpha1',
    kind: 'DBInstance',
    metadata: { name: 'd' },
    spec: { x: 1 },
  }
  assert.equal(kubernetesShape(strange), undefined)
  assert.deepEqual(said(strange), [])
})

test('every block that a field names is in the table', () => {
  const seen = new Set<object>()
  const visit = (shape: ReturnType<typeof kubernetesShape> | true): void => {
    if (shape === undefined || shape === true || seen.has(shape)) return
    seen.add(shape)
    const { type, properties, items, additionalProperties } = shape
    if (type === 'object') assert.ok(Object.keys(properties ?? { any: additionalProperties }).length > 0)
    for (const one of Object.values(properties ?? {})) visit(one)
    visit(items)
    visit(additionalProperties)
  }
  for (const kind of ['Pod', 'Service', 'PersistentVolume', 'Node']) visit(kubernetesShape({ apiVersion: 'v1', kind }))
  assert.ok(seen.size > 200, String(seen.size))
})

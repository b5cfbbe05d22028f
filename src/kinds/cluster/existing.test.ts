import assert from 'node:assert/strict'
import { test } from 'node:test'
import { grantOf } from '../../controller/sources/grant-schema.ts'
import { NOTHING_GRANTED } from '../../model/grant.ts'
import { link } from '../../plan/link.ts'
import { errorsOf, readText, told } from '../../source/testing/fixture.ts'
import { findKind } from '../registry.ts'

/* A foreign cluster: its connection, and nothing about its composition. */

const existing = (spec: string) => `apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: prod}
spec:
  type: existing
${spec}`

const estateOf = (text: string) => {
  const revision = readText(text)
  return link(revision, { findKind, problemAt: revision.problemAt })
}

test('an existing cluster is a connection, and no planner of clusters sees it', () => {
  const estate = estateOf(
    existing('  kubeconfig: {file: ~/.kube/config}\n  context: arn:aws:eks:eu-west-1:123456789012:cluster/prod\n'),
  )
  assert.deepEqual(told(estate.problems), [])
  assert.equal(estate.clusters, undefined)
  assert.deepEqual(
    estate.connections.map(({ name, driver, existing: way }) => ({ name, driver, way })),
    [
      {
        name: 'cluster/prod',
        driver: 'kubernetes',
        way: {
          name: 'prod',
          kubeconfig: { file: '~/.kube/config' },
          context: 'arn:aws:eks:eu-west-1:123456789012:cluster/prod',
        },
      },
    ],
  )
  const inside = estateOf(existing('  inCluster: true\n'))
  assert.deepEqual(inside.connections[0]?.existing, { name: 'prod' })
})

const REFUSED: readonly (readonly [name: string, spec: string, expected: RegExp])[] = [
  ['a release', '  inCluster: true\n  version: v1.34.3+k3s1\n', /^not-of-existing 7:\d+ version is not for/],
  ['servers', '  inCluster: true\n  servers: [{machine: Host/cow}]\n', /^not-of-existing 7:\d+ servers is not for/],
  ['an upgrade', '  inCluster: true\n  upgrade: {soak: 5m}\n', /^not-of-existing 7:\d+ upgrade/],
  [
    'backups',
    '  inCluster: true\n  backup: {schedule: "0 1 * * *", to: {directory: /b}}\n',
    /^not-of-existing 7:\d+ backup/,
  ],
  ['no way', '  description: somewhere\n', /^missing-field 4:\d+ kubeconfig is missing/],
  [
    'two ways',
    '  inCluster: true\n  kubeconfig: {env: KUBECONFIG_TEXT}\n',
    /^bad-value 6:\d+ kubeconfig and inCluster are two ways/,
  ],
  ['a context of nothing', '  inCluster: true\n  context: other\n', /^bad-value 7:\d+ context is of a kubeconfig/],
  ['the kubeconfig itself', '  kubeconfig: "apiVersion: v1"\n', /must say where the secret is found/],
]

for (const [name, spec, expected] of REFUSED)
  test(`refused with its place: ${name}`, () => {
    const [first = ''] = told(errorsOf(readText(existing(spec))))
    assert.match(first, expected)
  })

test('a cluster that croft runs still needs a release and servers, and no kubeconfig', () => {
  const own = (spec: string) =>
    told(errorsOf(readText(`apiVersion: croft.dev/v1alpha1\nkind: Cluster\nmetadata: {name: home}\nspec:\n${spec}`)))
  assert.match(own('  version: v1.34.3+k3s1\n').join(), /missing-field 4:\d+ servers is missing/)
  assert.match(own('  servers: [{machine: Host/cow}]\n').join(), /missing-field 4:\d+ version is missing/)
  assert.match(own('  version: v1.34.3+k3s1\n  servers: []\n').join(), /servers/)
  assert.match(
    own('  version: v1.34.3+k3s1\n  servers: [{machine: Host/cow}]\n  kubeconfig: {env: K}\n').join(),
    /not-of-k3s 7:\d+ kubeconfig is for a cluster of type existing/,
  )
})

test('a source with a grant does not say how a cluster is reached, not even as our own pod', () => {
  const revision = readText(existing('  inCluster: true\n'))
  const grant = grantOf('guests', {
    ...NOTHING_GRANTED,
    kinds: ['Cluster', 'Addon'],
    names: ['*'],
  } as unknown as Parameters<typeof grantOf>[1])
  const estate = link({ ...revision, grantOf: () => grant }, { findKind, problemAt: revision.problemAt })
  assert.match(
    told(estate.problems).join(),
    /outside-grant 5:\d+ the source guests has a grant and may not declare how/,
  )
  assert.deepEqual(estate.connections, [])
})

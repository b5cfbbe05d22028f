import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bodyOf } from './body.ts'
import { objectFromProtobuf } from './protobuf.ts'
import { ApiStatus } from './status.ts'

/** Bodies as kubectl v1.32 sent them to a server that only listened. */
const RECORDED: readonly (readonly [command: string, body: string, object: unknown])[] = [
  [
    'create configmap x --from-literal=a=b',
    'azhzAAoPCgJ2MRIJQ29uZmlnTWFwEhsKEQoBeBIAGgAiACoAMgA4AEIAEgYKAWESAWIaACIA',
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: { a: 'b' } },
  ],
  [
    'create secret generic s --from-literal=k=v',
    'azhzAAoMCgJ2MRIGU2VjcmV0Eh0KEQoBcxIAGgAiACoAMgA4AEIAEgYKAWsSAXYaABoAIgA=',
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { k: 'dg==' } },
  ],
  [
    'create deployment web --image=nginx --replicas=0 --port=80',
    'azhzAAoVCgdhcHBzL3YxEgpEZXBsb3ltZW50ErgBCh8KA3dlYhIAGgAiACoAMgA4AEIAWgoKA2FwcBIDd2ViEoYBCAASDAoKCgNhcHASA3dlYhpsChwKABIAGgAiACoAMgA4AEIAWgoKA2FwcBIDd2ViEkwSLgoFbmdpbngSBW5naW54KgAyCgoAEAAYUCIAKgBCAGoAcgCAAQCIAQCQAQCiAQAaADIAQgBKAFIAWABgAGgAggEAigEAmgEAwgEAIgIKACgAOAAaDAgAEAAYACAAKAA4ABoAIgA=',
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', labels: { app: 'web' } },
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { containers: [{ name: 'nginx', image: 'nginx', ports: [{ containerPort: 80 }] }] },
        },
      },
    },
  ],
  [
    'create pdb p --selector=a=b --min-available=50%',
    'azhzAAogCglwb2xpY3kvdjESE1BvZERpc3J1cHRpb25CdWRnZXQSNgoRCgFwEgAaACIAKgAyADgAQgASFQoJCAEQABoDNTAlEggKBgoBYRIBYhoKCAAYACAAKAAwABoAIgA=',
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'p' },
      spec: { minAvailable: '50%', selector: { matchLabels: { a: 'b' } } },
    },
  ],
  [
    'create quota q --hard=pods=3',
    'azhzAAoTCgJ2MRINUmVzb3VyY2VRdW90YRIkChEKAXESABoAIgAqADIAOABCABINCgsKBHBvZHMSAwoBMxoAGgAiAA==',
    { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard: { pods: '3' } } },
  ],
  [
    'create ingress i --rule=a.example/=svc:80',
    'azhzAAofChRuZXR3b3JraW5nLms4cy5pby92MRIHSW5ncmVzcxJFChEKAWkSABoAIgAqADIAOABCABIsGioKCWEuZXhhbXBsZRIdChsKGQoBLxINIgsKA3N2YxIECgAQUBoFRXhhY3QaAgoAGgAiAA==',
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'i' },
      spec: {
        rules: [
          {
            host: 'a.example',
            http: {
              paths: [{ path: '/', pathType: 'Exact', backend: { service: { name: 'svc', port: { number: 80 } } } }],
            },
          },
        ],
      },
    },
  ],
]

for (const [command, body, object] of RECORDED)
  test(`kubectl ${command}: the object that it sent`, () => {
    assert.deepEqual(objectFromProtobuf(Buffer.from(body, 'base64')), object)
  })

test('a form that is not known is refused as the real server refuses it, and nothing is made of its half', () => {
  const [, body] = RECORDED[0] ?? []
  const bytes = Buffer.from(body ?? '', 'base64')
  const renamed = Buffer.from(bytes.toString('latin1').replace('ConfigMap', 'Configmap'), 'latin1')
  const further = Buffer.concat([
    bytes.subarray(0, 21),
    Buffer.from([0x1d]),
    bytes.subarray(22, 50),
    Buffer.from('7a00', 'hex'),
  ])
  for (const wrong of [renamed, bytes.subarray(0, 30), bytes.subarray(4), further, Buffer.from('k8s\0')])
    assert.equal(objectFromProtobuf(wrong), undefined, wrong.toString('hex'))
  const sent = (type: string, content: Uint8Array) =>
    bodyOf({ method: 'POST', path: '/', headers: { 'content-type': type }, body: Buffer.from(content) })
  for (const [type, content] of [
    ['application/vnd.kubernetes.protobuf', renamed],
    ['application/cbor', Buffer.from('a0', 'hex')],
  ] as const)
    assert.throws(
      () => sent(type, content),
      (error) => error instanceof ApiStatus && error.code === 415 && error.reason === 'UnsupportedMediaType',
      type,
    )
  assert.deepEqual(sent('application/json; charset=utf-8', Buffer.from('{"a":1}')), { a: 1 })
})

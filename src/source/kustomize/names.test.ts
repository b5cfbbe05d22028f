import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isManifestName } from '../files/walk-files.ts'
import { objectsAt } from '../objects-at.ts'

const map = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {a: "1"}\n`

// kustomize: RecognizedKustomizationFileNames
for (const name of ['kustomization.yaml', 'kustomization.yml', 'Kustomization'])
  test(`a kustomization may be called ${name}: what it does not name is not applied`, () => {
    const files = new Map([
      [`app/${name}`, 'namespace: prod\nnamePrefix: x-\nresources: [a.yaml]\n'],
      ['app/a.yaml', map('a')],
      ['app/disabled.yaml', map('disabled')],
    ])
    const texts = new Map([...files].filter(([path]) => isManifestName(path)))
    const at = objectsAt({ texts, bytes: new Map([...texts].map(([path, text]) => [path, Buffer.from(text)])) }, 'app')
    assert.ok('objects' in at, JSON.stringify(at))
    const names = at.objects.map((one) => (one as { metadata: object }).metadata)
    assert.deepEqual(names, [{ name: 'x-a', namespace: 'prod' }])
  })

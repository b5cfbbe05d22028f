import assert from 'node:assert/strict'
import { test } from 'node:test'
import { put } from '../../sim/kubernetes/store.ts'
import { createLab } from './addon-lab.ts'

const ADDON = (more: string) => `---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: shop}
spec:
  cluster: homelab
  objects:
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: stays}, data: {a: "1"}}
${more}`
const WEB = `    - apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 1
        selector: {matchLabels: {app: web}}
        template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: example.org/web:1}]}}
`

test('a Deployment that Flux applies by now lives on without the mark of croft when it leaves its add-on', async () => {
  const lab = createLab(ADDON(WEB), 1, 'released')
  assert.equal(await lab.settle(), 'settled')
  const web = lab.found('apps/deployments', 'default', 'web')
  const mine = web.metadata.managedFields?.find(({ manager }) => manager === 'croft')
  assert.ok(mine)
  const { 'f:metadata': _, ...fieldsV1 } = mine.fieldsV1 ?? {}
  const managedFields = [...(web.metadata.managedFields ?? []), { ...mine, manager: 'kustomize-controller', fieldsV1 }]
  const labels = { ...web.metadata.labels, 'kustomize.toolkit.fluxcd.io/name': 'apps' }
  put(lab.store(), 'apps/deployments', { ...web, metadata: { ...web.metadata, labels, managedFields } })
  lab.git(ADDON(''))
  assert.equal(await lab.settle(), 'settled')
  const left = lab.found('apps/deployments', 'default', 'web')
  assert.equal(
    left.metadata.managedFields?.some(({ manager }) => manager === 'croft'),
    false,
  )
  assert.equal(lab.run.disk.records.has('Addon/shop@Deployment.apps/default/web'), false)
})

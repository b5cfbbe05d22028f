import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderImportable, renderLeftAlone } from '../verbs/validate.ts'

test('documents of others are named by kind with their number, most first, and so is what is no document', () => {
  const flux = { file: 'a.yaml', line: 1, apiVersion: 'helm.toolkit.fluxcd.io/v2', kind: 'HelmRelease' }
  const template = { file: 'b.yaml', line: 1, apiVersion: '', kind: '', note: 'part of the Helm chart in apps' }
  assert.deepEqual(renderLeftAlone([template, flux, flux]), [
    '  2 × HelmRelease (helm.toolkit.fluxcd.io/v2)',
    '  1 × part of the Helm chart in apps',
  ])
  const many = Array.from({ length: 14 }, (_, at) => ({ ...flux, kind: `Kind${at}` }))
  assert.equal(renderLeftAlone(many).at(-1), '  and 2 more kinds; -o json lists every document')
})

test('a repository of another tool is told which command reads it', () => {
  const of = (apiVersion: string, kind: string) => ({ file: 'a.yaml', line: 1, apiVersion, kind })
  const documents = [
    of('helm.toolkit.fluxcd.io/v2', 'HelmRelease'),
    of('source.toolkit.fluxcd.io/v1', 'HelmRepository'),
    of('argoproj.io/v1alpha1', 'Application'),
    of('apps/v1', 'Deployment'),
  ]
  assert.deepEqual(renderImportable(documents, 'infra'), [
    '1 document may be read with croft import argocd infra',
    '2 documents may be read with croft import flux infra',
  ])
  assert.deepEqual(renderImportable([of('apps/v1', 'Deployment')], 'infra'), [])
})

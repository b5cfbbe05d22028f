import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChartRequest } from '../drivers/chart-port.ts'
import { archiveName, environmentFor, requestProblem, templateArguments } from './arguments.ts'
import { standInsFor } from './renderer.ts'

const REQUEST: ChartRequest = {
  repo: 'https://charts.example.org',
  chart: 'podinfo',
  version: '6.9.2',
  release: 'podinfo',
  namespace: 'web',
  values: '{}',
  upgrade: false,
}

test('nothing that a cluster says becomes an option of Helm, and only a pinned version is asked for', () => {
  const table: readonly (readonly [Partial<ChartRequest>, boolean])[] = [
    [{}, true],
    [{ version: 'v1.21.1' }, true],
    [{ repo: 'http://127.0.0.1:8080' }, true],
    [{ chart: '--post-renderer=/bin/sh' }, false],
    [{ chart: '/etc/chart' }, false],
    [{ chart: '../chart' }, false],
    [{ repo: 'file:///etc' }, false],
    [{ repo: '--debug' }, false],
    [{ version: '' }, false],
    [{ version: '>1' }, false],
    [{ version: '--devel' }, false],
    [{ release: '-x' }, false],
    [{ namespace: 'a b' }, false],
    [{ namespace: '' }, false],
  ]
  for (const [part, good] of table)
    assert.equal(requestProblem({ ...REQUEST, ...part }) === undefined, good, JSON.stringify(part))
  const { repo: _, ...registry } = REQUEST
  assert.equal(requestProblem({ ...registry, chart: 'oci://ghcr.io/x/podinfo' }), undefined)
  assert.ok(requestProblem({ ...registry, chart: 'oci://-x' }))
  assert.ok(requestProblem(registry), 'without a repository it is a file of this computer')
})

test('definitions beside the templates are shown when they are written: the first time', () => {
  const words = (more: Partial<ChartRequest>) => templateArguments({ ...REQUEST, ...more }, 'c.tgz', ['v']).join(' ')
  assert.match(words({}), /^template podinfo c\.tgz --namespace web --values v --include-crds --skip-tests$/)
  assert.match(words({ upgrade: true, kubeVersion: '1.34.3' }), /--kube-version 1\.34\.3 --is-upgrade --skip-tests$/)
})

test('a fetched chart is known again by its place and version alone', () => {
  assert.equal(archiveName(REQUEST), archiveName({ ...REQUEST, values: 'a: 1', release: 'x' } as ChartRequest))
  assert.notEqual(archiveName(REQUEST), archiveName({ ...REQUEST, version: '6.9.3' }))
  assert.notEqual(archiveName(REQUEST), archiveName({ ...REQUEST, repo: 'https://other.example.org' }))
})

test('Helm gets the way out to the web, and nothing of the person who runs croft', () => {
  const env = environmentFor(
    { HOME: '/home/u', PATH: '/opt', https_proxy: 'http://p:1', PROXMOX_TOKEN: 's', HELM_KUBETOKEN: 't', AWS_KEY: 'k' },
    '/tmp/h',
  )
  assert.deepEqual(Object.keys(env).sort(), [
    'HELM_CACHE_HOME',
    'HELM_CONFIG_HOME',
    'HELM_DATA_HOME',
    'HELM_PLUGINS',
    'HOME',
    'HTTPS_PROXY',
    'KUBECONFIG',
    'PATH',
  ])
  assert.ok(Object.entries(env).every(([name, value]) => !/^H(?:OME|ELM)/.test(name) || value.startsWith('/tmp/h')))
})

test('of hidden values nothing is left but their names, their shape, and yes and no', () => {
  const values = { password: 'correct-horse', port: 5432, on: true, list: ['a', { b: null }], deep: { key: '' } }
  assert.deepEqual(standInsFor(values), {
    password: 'hidden',
    port: 1,
    on: true,
    list: ['hidden', { b: null }],
    deep: { key: 'hidden' },
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unlessStopped } from '../../cli/verb.ts'
import { systemClock } from '../../lib/clock.ts'
import { importText } from '../foreign/import-text.ts'
import { TooCostly } from '../reader.ts'
import { importInCage } from './importer.ts'

const APPLICATION = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web}
spec:
  source: {repoURL: "https://charts.example", chart: web, targetRevision: 1.2.3}
  destination: {namespace: web}
`
const FILES = [{ path: 'web.yaml', text: APPLICATION }]

test('[S-33] files of other tools are imported in the cage, with the result that they have here', async () => {
  for (const format of ['argocd', 'terraform']) {
    const request = { format, options: { cluster: 'home' } }
    const caged = await importInCage(request, FILES, systemClock)
    assert.deepEqual(caged, structuredClone(importText(request, FILES)))
    assert.equal('objects' in caged && caged.objects > 0, format === 'argocd')
  }
})

test('[S-33] files that need more memory or time than they may have end the process that reads them, and nothing else', async () => {
  const text = `items: [${'{a: &x [1, 2, 3], "b": *x, c: [[], {}, "d"]},\n'.repeat(40_000)}]`
  const read = (bounds: { heapMb?: number; deadlineMs?: number }) =>
    importInCage({ format: 'flux', options: {} }, [{ path: 'big.yaml', text }], systemClock, bounds)
  await assert.rejects(read({ heapMb: 16 }), (error) => error instanceof TooCostly && error.message.endsWith('16 MB'))
  await assert.rejects(
    read({ deadlineMs: 50 }),
    (error) => error instanceof TooCostly && error.message.endsWith('0.05 s'),
  )
})

test('a person who stops a command does not wait for what the cage reads', async () => {
  const stop = new AbortController()
  const waiting = unlessStopped(stop.signal, new Promise(() => {}))
  stop.abort('SIGTERM')
  await assert.rejects(waiting, /^StoppedBySignal: Interrupted/)
  await assert.rejects(unlessStopped(stop.signal, new Promise(() => {})), /^StoppedBySignal/)
  assert.equal(await unlessStopped(new AbortController().signal, Promise.resolve(1)), 1)
})

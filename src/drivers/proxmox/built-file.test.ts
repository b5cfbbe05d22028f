import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FileSpec } from '../../model/file.ts'
import type { ObservedResource, Resource, Survey } from '../../model/resource.ts'
import { diffFile, verifyFileSteps } from './file-rules.ts'
import { fileObstacles } from './obstacles.ts'

const FILE: FileSpec = {
  host: 'pve1',
  storage: 'local',
  content: 'import',
  fileName: 'a.qcow2',
  url: 'build:a',
  checksum: { algorithm: 'sha256', value: '0'.repeat(64) },
  overwrite: false,
}
const SURVEY = {
  hosts: [{ name: 'pve1', online: true }],
  storages: [{ host: 'pve1', name: 'local', content: ['import'], available: true }],
} as unknown as Survey
const RESOURCE = { policy: { manage: 'full', replace: 'held' } } as unknown as Resource
const there = (size: number) =>
  ({
    externalId: 'local:import/a.qcow2',
    host: 'pve1',
    close: { config: { size }, atMs: 0 },
  }) as unknown as ObservedResource

test('an image that croft builds is waited for, with the command that brings it', () => {
  const [obstacle, ...more] = fileObstacles(FILE, SURVEY)
  assert.deepEqual(more, [])
  assert.match(obstacle?.message ?? '', /a\.qcow2 is built and not downloaded/)
  assert.equal(obstacle?.allow, 'run croft image build a')
  assert.deepEqual(fileObstacles({ ...FILE, url: 'https://example.org/a.qcow2' }, SURVEY), [])
})

test('once it is there nothing is asked of a host that could only download it', () => {
  assert.deepEqual(diffFile(RESOURCE, FILE, there(5)), [])
  assert.deepEqual(verifyFileSteps(FILE, there(5)), [])
  assert.deepEqual(
    diffFile(RESOURCE, { ...FILE, url: 'https://example.org/a.qcow2' }, there(5)).map(({ path }) => path),
    ['checksum'],
    'a download is verified',
  )
  assert.deepEqual(
    diffFile(RESOURCE, FILE, there(0)).map(({ path, effect }) => [path, effect]),
    [['content', 'replace']],
  )
})

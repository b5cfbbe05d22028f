import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { LIMITS } from '../../lib/limits.ts'
import { cleanText } from './foreign.ts'
import { readSurvey, readTask } from './survey.ts'

const UID = '0123456789abcdef'
const UPID = 'UPID:pve1:00000102:0004F35D:6AF9041E:qmcreate:101:admin@pve!t1:'

describe('readSurvey', () => {
  it('does not know the power of a guest that a task has switched since the host counted', () => {
    const at = 1_794_984_900
    const task = (type: string, started: number, ended: number | undefined, status = 'OK', id = '101') => ({
      upid: `UPID:pve1:00000102:0004F35D:${started.toString(16).toUpperCase()}:${type}:${id}:root@pam:`,
      ...(ended === undefined ? {} : { endtime: ended, status }),
    })
    const table: readonly (readonly [name: string, listed: string, tasks: readonly unknown[], power: string])[] = [
      ['shut down a moment ago', 'running', [task('qmshutdown', at - 9, at - 4)], 'unknown'],
      ['started a moment ago', 'stopped', [task('qmstart', at - 9, at - 4)], 'unknown'],
      ['paused a moment ago', 'running', [task('qmpause', at - 5, at - 4)], 'paused'],
      ['a container', 'running', [task('vzstop', at - 5, at - 4)], 'unknown'],
      ['as the task left it', 'running', [task('qmstart', at - 9, at - 4)], 'running'],
      ['the last task counts', 'running', [task('qmstop', at - 9, at - 8), task('qmstart', at - 7, at - 4)], 'running'],
      ['the clock of the host goes ahead', 'running', [task('qmstop', at + 50, at + 60)], 'unknown'],
      ['long ago', 'running', [task('qmstop', at - 99, at - 90)], 'running'],
      ['did not do it', 'running', [task('qmstop', at - 9, at - 4, 'got timeout')], 'running'],
      ['still at it', 'running', [task('qmstop', at - 9, undefined)], 'running'],
      ['another guest', 'running', [task('qmstop', at - 9, at - 4, 'OK', '102')], 'running'],
      ['a task of another kind', 'running', [task('qmconfig', at - 9, at - 4)], 'running'],
    ]
    for (const [name, status, tasks, expected] of table) {
      const { resources } = readSurvey('c', at * 1000, [{ type: 'qemu', vmid: 101, node: 'pve1', status }], tasks)
      assert.equal(resources[0]?.power, expected, name)
    }
  })

  it('reads hosts, storages, guests and tasks', () => {
    const survey = readSurvey(
      'default',
      5,
      [
        { type: 'node', node: 'pve1', status: 'online', maxmem: 100, mem: 10, maxcpu: 4 },
        { type: 'node', node: 'pve2', status: 'offline' },
        { type: 'node', node: 'pve3', status: 'unknown' },
        {
          type: 'storage',
          storage: 'local',
          node: 'pve1',
          status: 'available',
          content: 'iso,images',
          shared: 0,
          maxdisk: 9,
          disk: 3,
        },
        {
          type: 'qemu',
          vmid: 101,
          node: 'pve1',
          name: 'web',
          status: 'running',
          tags: `a;croft-${UID}`,
          template: 0,
          pool: 'k3s',
          uptime: 7,
        },
        { type: 'lxc', vmid: '200', node: 'pve1', status: 'stopped', lock: 'backup', template: 1 },
        { type: 'pool', pool: 'k3s' },
        { type: 'sdn', sdn: 'x' },
      ],
      [{ upid: UPID, node: 'pve1', type: 'qmcreate', id: '101', user: 'admin@pve' }],
    )
    assert.deepEqual(survey.hosts, [
      { name: 'pve1', online: true, memoryBytes: 100, memoryUsedBytes: 10, cpus: 4 },
      { name: 'pve2', online: false },
      { name: 'pve3', online: true },
    ])
    assert.deepEqual(survey.storages, [
      {
        host: 'pve1',
        name: 'local',
        content: ['iso', 'images'],
        available: true,
        shared: false,
        totalBytes: 9,
        usedBytes: 3,
      },
    ])
    assert.deepEqual(survey.resources, [
      {
        connection: 'default',
        type: 'vm',
        externalId: '101',
        host: 'pve1',
        power: 'running',
        name: 'web',
        mark: { uid: UID },
        pool: 'k3s',
        uptimeSeconds: 7,
      },
      {
        connection: 'default',
        type: 'container',
        externalId: '200',
        host: 'pve1',
        power: 'stopped',
        lock: 'backup',
        template: true,
      },
    ])
    assert.deepEqual(survey.tasks, [
      {
        id: UPID,
        host: 'pve1',
        verb: 'qmcreate',
        subject: '101',
        user: 'admin@pve!t1',
        startedMs: 0x6af9041e * 1000,
        state: 'running',
      },
    ])
  })

  for (const [entry, state, message] of [
    [{ upid: UPID }, 'running', undefined],
    [{ upid: UPID, endtime: 5, status: 'OK' }, 'succeeded', 'OK'],
    [{ upid: UPID, endtime: 5, status: 'WARNINGS: 2' }, 'succeeded', 'WARNINGS: 2'],
    [{ upid: UPID, endtime: 5, status: 'VM is locked (clone)' }, 'failed', 'VM is locked (clone)'],
    [{ upid: UPID, status: 'running' }, 'running', undefined],
    [{ upid: UPID, status: 'stopped', exitstatus: 'OK' }, 'succeeded', 'OK'],
    [{ upid: UPID, status: 'stopped', exitstatus: 'unable to \u001b[31mstart' }, 'failed', 'unable to start'],
    [{ upid: UPID, status: 'stopped' }, 'failed', undefined],
  ] as const) {
    it('takes a storage without statistics for available where its host has none either', () => {
      const seen = (host: string, storage: string) =>
        readSurvey(
          'default',
          5,
          [
            { type: 'storage', storage: 'local', node: 'pve1', status: storage, content: 'images' },
            { type: 'node', node: 'pve1', status: host },
          ],
          [],
        ).storages[0]?.available
      assert.equal(seen('unknown', 'unknown'), true)
      assert.equal(seen('online', 'unknown'), false)
      assert.equal(seen('unknown', 'disabled'), false)
    })

    it(`a task ${JSON.stringify(entry).slice(80)} is ${state}`, () => {
      const task = readTask(entry)
      assert.equal(task?.state, state)
      assert.equal(task?.message, message)
      assert.equal(task?.warned, message?.startsWith('WARNINGS') === true ? true : undefined)
    })
  }

  it('[S-16] survives wrong types, control characters, huge strings and negative sizes', () => {
    const huge = 'x'.repeat(10_000_000)
    const survey = readSurvey(
      'default',
      0,
      [
        {
          type: 'qemu',
          vmid: 101,
          node: 'pve1',
          name: '\u001b]0;owned\u0007web\u001b[2J\n\u202e',
          status: ['running'],
          tags: { a: 1 },
          uptime: -5,
        },
        { type: 'qemu', vmid: 102, node: 'pve1', name: huge, lock: huge, pool: 7 },
        { type: 'qemu', vmid: -1, node: 'pve1' },
        { type: 'qemu', vmid: '../../x', node: 'pve1' },
        { type: 'qemu', vmid: 103 },
        { type: 'node', node: null },
        { type: 'node', node: 'pve1', maxmem: -4, mem: '12', maxcpu: Number.NaN },
        { type: 'storage', node: 'pve1', storage: 'local', content: 5, maxdisk: -1, disk: {} },
        null,
        'text',
        7,
        [],
      ],
      { not: 'a list' },
    )
    assert.deepEqual(
      survey.resources.map((s) => s.externalId),
      ['101', '102'],
    )
    const [first, second] = survey.resources
    assert.equal(first?.name, 'web')
    assert.equal(first?.power, 'unknown')
    assert.equal(first?.uptimeSeconds, undefined)
    assert.ok((second?.name?.length ?? 0) <= LIMITS.foreignNameLength)
    assert.deepEqual(survey.hosts, [{ name: 'pve1', online: true, memoryUsedBytes: 12 }])
    assert.deepEqual(survey.storages[0], {
      host: 'pve1',
      name: 'local',
      content: ['5'],
      available: false,
      shared: false,
    })
    assert.deepEqual(survey.tasks, [])
  })

  it('[S-16] never throws, whatever the answer', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (resources, tasks) => void readSurvey('c', 0, resources, tasks)),
    )
  })

  it('[S-16] holds no more entries than it may', () => {
    const many = Array.from({ length: LIMITS.surveyEntries + 10 }, () => ({ type: 'qemu', vmid: 101, node: 'a' }))
    assert.equal(readSurvey('c', 0, many, []).resources.length, LIMITS.surveyEntries)
  })

  it('[S-16] text for a terminal is one line without control characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        assert.ok(!/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(cleanText(text)))
      }),
    )
    assert.equal(cleanText('a\u001b[1;31mb\u001b[0m\r\nc'), 'ab  c')
  })
})

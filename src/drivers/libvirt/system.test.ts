import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemOf } from './system.ts'

const UUID = '4c4c4544-0042-3510-8052-b4c04f564433'
const MACHINE = '0123456789abcdef0123456789abcdef'

test('a libvirt host is told by the UUID of its board and its machine-id, and by neither alone', () => {
  assert.deepEqual(systemOf(UUID, MACHINE), { is: 'seen', id: { 'host uuid': UUID, 'machine-id': MACHINE } })
  for (const [uuid, machine, why] of [
    ['00000000-0000-0000-0000-000000000000', MACHINE, /host_uuid/],
    ['ffffffff-ffff-ffff-ffff-ffffffffffff', MACHINE, /host_uuid/],
    ['03000200-0400-0500-0006-000700080009', MACHINE, /host_uuid/],
    ['', MACHINE, /virsh -c qemu:\/\/\/system capabilities/],
    [UUID, '', /systemd-machine-id-setup/],
    [UUID, 'uninitialized', /systemd-machine-id-setup/],
  ] as const) {
    const read = systemOf(uuid, machine)
    assert.match(read.is === 'unread' ? read.why : '', why)
    assert.equal(read.is === 'unread' && read.id !== undefined, false)
  }
})

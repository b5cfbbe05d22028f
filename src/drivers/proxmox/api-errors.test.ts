import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { RECORDINGS, recordedExchanges } from '../../../test/evidence/read.ts'
import { defined } from '../../lib/defined.ts'
import type { Refusal } from '../../model/step.ts'
import { translate } from './api-errors.ts'

const doing = 'change VM 102 on pve1'
const place = { doing, host: 'pve1', guest: '102' }

type Row = readonly [status: number | undefined, text: string, reason: string, meaning: Refusal['meaning']]

const TABLE: readonly Row[] = [
  [401, 'No ticket', 'Unauthorized', 'stalled'],
  [401, 'Authentication failed!', 'Unauthorized', 'stalled'],
  [401, 'permission denied - invalid PVEVNC ticket', 'Unauthorized', 'stalled'],
  [403, 'Permission check failed (/vms/102, VM.Config.Disk)', 'PermissionDenied', 'stalled'],
  [403, 'Permission check failed', 'PermissionDenied', 'stalled'],
  [403, "Permission check failed (pool 'nopool' does not exist)", 'PoolMissing', 'stalled'],
  [403, "Permission check failed (/, Sys.Modify for modifying tag 'new')", 'PermissionDenied', 'stalled'],
  [500, "unable to create VM 101 - VM 101 already exists on node 'pve1'", 'IdTaken', 'waiting'],
  [500, 'unable to create VM 101: config file already exists', 'IdTaken', 'waiting'],
  [400, 'Parameter verification failed. VM 100 already exists', 'IdTaken', 'waiting'],
  [500, 'got no worker upid - start worker failed', 'NeverBegun', 'waiting'],
  [500, 'VM is locked (clone)', 'Locked', 'waiting'],
  [500, 'VM is locked (snapshot-delete)', 'Locked', 'waiting'],
  [500, 'checksum mismatch (file change by other user?)', 'DigestMismatch', 'waiting'],
  [
    500,
    'update storage failed: detected modified configuration - file changed by other user? Try again.',
    'DigestMismatch',
    'waiting',
  ],
  [undefined, "checksum mismatch: got 'aa' != expect 'bb'", 'ChecksumMismatch', 'stalled'],
  [undefined, "checksum mismatch: got 'aa' != expect 'bb', aborting", 'ChecksumMismatch', 'backoff'],
  [500, "Configuration file 'nodes/pve1/qemu-server/999.conf' does not exist", 'NotFound', 'waiting'],
  [500, "unable to find configuration file for VM 999 on node 'pve1'", 'NotFound', 'waiting'],
  [500, "can't lock file '/var/lock/qemu-server/lock-160.conf' - got timeout", 'LockTimeout', 'waiting'],
  [undefined, "cfs-lock 'storage-local' error: got lock request timeout", 'LockTimeout', 'waiting'],
  [500, 'cluster not ready - no quorum?', 'NoQuorum', 'waiting'],
  [500, "only root can set 'args' config", 'RootOnly', 'stalled'],
  [400, 'Only root may use this option.', 'RootOnly', 'stalled'],
  [500, 'VM 100 is running - destroy failed', 'StillRunning', 'waiting'],
  [500, "can't remove VM 110 - protection mode enabled", 'Protected', 'stalled'],
  [undefined, "base volume 'local:101/base-101-disk-0.qcow2' is still in use by linked cloned", 'InUse', 'stalled'],
  [undefined, 'VM 100 already running', 'AlreadyRunning', 'waiting'],
  [500, 'VM 100 not running', 'NotRunning', 'waiting'],
  [500, 'VM 101 is not running', 'NotRunning', 'waiting'],
  [500, 'QEMU guest agent is not running', 'AgentDown', 'waiting'],
  [undefined, 'VM quit/powerdown failed - got timeout', 'ShutdownIgnored', 'backoff'],
  [500, 'VM is paused - cannot shutdown', 'Paused', 'backoff'],
  [500, "storage 'nope' does not exist", 'StorageUnfit', 'stalled'],
  [undefined, "unable to create VM 102 - storage 's2' is disabled", 'StorageUnfit', 'stalled'],
  [500, "storage 'nfs' is not online", 'StorageOffline', 'backoff'],
  [undefined, 'unable to create VM 102 - write failed: No space left on device', 'StorageFull', 'stalled'],
  [undefined, "bridge 'vmbr9' does not exist", 'BridgeMissing', 'stalled'],
  [undefined, "unable to create VM 113 - failed to stat '/var/lib/vz/import/none.qcow2'", 'VolumeMissing', 'backoff'],
  [500, "volume 'local:iso/none.iso' does not exist", 'VolumeMissing', 'backoff'],
  [undefined, 'download failed: Connecting to 10.0.0.1:9... failed: Connection refused.', 'DownloadFailed', 'backoff'],
  [undefined, "refusing to override existing file '/var/lib/vz/template/iso/cloud.img'", 'FileExists', 'waiting'],
  [undefined, 'shrinking disks is not supported', 'CannotShrink', 'stalled'],
  [
    500,
    "hostname lookup 'nope' failed - failed to get address info for: nope: Temporary failure",
    'HostUnknown',
    'backoff',
  ],
  [500, "invalid bootorder: device 'scsi7' does not exist'", 'InvalidParameter', 'stalled'],
  [undefined, "you can't start a vm if it's a template", 'IsTemplate', 'stalled'],
  [400, 'Parameter verification failed.', 'InvalidParameter', 'stalled'],
  [501, "Method 'GET /x' not implemented", 'NotSupported', 'stalled'],
  [500, 'something that nobody has seen before', 'ApiError', 'backoff'],
  [undefined, 'start failed: QEMU exited with code 1', 'TaskFailed', 'backoff'],
]

describe('translate', () => {
  for (const [status, text, reason, meaning] of TABLE) {
    it(`${status ?? 'task'} ${text.slice(0, 70)} → ${reason}, ${meaning}`, () => {
      const refusal = translate({ ...place, text, ...defined({ status }) })
      assert.equal(refusal.reason, reason)
      assert.equal(refusal.meaning, meaning)
      assert.ok(refusal.message.startsWith(`could not ${doing}: `), refusal.message)
    })
  }

  it('[F-15] a lock left by a failed host comes with the exact command', () => {
    assert.match(translate({ ...place, status: 500, text: 'VM is locked (clone)' }).message, /on pve1: qm unlock 102/)
    assert.match(translate({ ...place, status: 500, text: 'CT is locked (create)' }).message, /on pve1: pct unlock 102/)
    assert.doesNotMatch(translate({ ...place, status: 500, text: 'VM is locked (backup)' }).message, /unlock/)
  })

  it('names the missing privilege and where it is missing', () => {
    const { message } = translate({
      ...place,
      status: 403,
      text: 'Permission check failed (/vms/102, VM.GuestAgent.Audit|VM.GuestAgent.Unrestricted)',
    })
    assert.match(message, /VM\.GuestAgent\.Audit or VM\.GuestAgent\.Unrestricted on \/vms\/102/)
  })

  it('[A30] a refused login with clocks apart is said to be that, and that the token may be wrong all the same', () => {
    const refusal = translate({ ...place, status: 401, text: 'Authentication failed! clock skew 552 s' })
    assert.match(
      refusal.message,
      /clock skew 552 s; set the clocks right; if it is refused then too, the token is wrong/,
    )
  })

  it('only a refused login and a lost majority concern the whole connection', () => {
    const wide = TABLE.filter(([status, text]) => translate({ ...place, text, ...defined({ status }) }).connectionWide)
    assert.deepEqual([...new Set(wide.map(([, , reason]) => reason))], ['Unauthorized', 'NoQuorum'])
  })

  it('shows every parameter that was refused', () => {
    const refusal = translate({
      ...place,
      status: 400,
      text: 'Parameter verification failed.',
      parameters: { cores: 'value must have a minimum value of 1', memory: 'invalid' },
    })
    assert.equal(
      refusal.message,
      `could not ${doing}: cores: value must have a minimum value of 1; memory: invalid; correct the declaration`,
    )
  })

  it('every reason is explained in the documentation', () => {
    const page = readFileSync(new URL('../../../docs/drivers/proxmox.md', import.meta.url), 'utf8')
    for (const reason of new Set(TABLE.map(([, , reason]) => reason))) assert.match(page, new RegExp(`\\b${reason}\\b`))
  })

  it('recognises nearly every recorded refusal of the calls that we make', () => {
    let known = 0
    const unknown: string[] = []
    for (const recording of RECORDINGS) {
      for (const { method, path, status, reason, body } of recordedExchanges(recording)) {
        if (status < 400 || status >= 595 || !isOurs(method, path)) continue
        const parameters = body.startsWith('{') ? JSON.parse(body).errors : undefined
        const refusal = translate({
          ...place,
          status,
          text: reason,
          ...defined({ parameters }),
        })
        if (refusal.reason === 'ApiError') unknown.push(`${method} ${path.split('?')[0]} ${reason}`)
        else known++
      }
    }
    assert.ok(known > 200, `only ${known}`)
    assert.deepEqual(
      [...new Set(unknown)].filter(
        (text) =>
          !/at character offset|EFI base image|snapshot 'nope'|get any free VMID|snapshot 'one'|purge parameter not set/.test(
            text,
          ),
      ),
      [],
    )
  })
})

function isOurs(method: string, path: string): boolean {
  const bare = path.split('?')[0] ?? ''
  if (method === 'GET')
    return /\/(config|pending|status\/current|network-get-interfaces|nextid|content|resources)$/.test(bare)
  return /\/qemu(\/\d+(\/(config|resize|template|status\/(start|shutdown|reboot|resume)))?)?$|download-url$/.test(bare)
}

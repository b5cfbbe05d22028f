import type { ResourceRecord } from '../../model/record.ts'
import type { SimulatedGuest } from '../runtime.ts'

const GIB = 1024 ** 3

/**
 * Returns what the datacentre lacks of the tour's claims. It reads behind the API, and only the last result from croft,
 * so that a wrong claim is found.
 */
export function missingFrom(
  before: readonly SimulatedGuest[],
  after: readonly SimulatedGuest[],
  records: readonly ResourceRecord[],
): readonly string[] {
  const missing: string[] = []
  const expect = (holds: boolean, what: string) => {
    if (!holds) missing.push(what)
  }
  const third = after.find((guest) => guest.vmid === 114)
  expect(third !== undefined, 'VM 114')
  if (third !== undefined) {
    expect(third.host === 'fun-bedbug', 'VM 114 on fun-bedbug')
    expect(third.name === 'k3s-vm-fun-bedbug', 'the name of VM 114')
    expect(third.running && third.booted, 'a booted VM 114')
    expect(third.agent, 'the agent of VM 114')
    expect(
      third.disks.some((disk) => disk.bytes === 50 * GIB),
      'the disk of 50 GiB',
    )
    expect(
      Object.values(third.config).some((value) => value.includes('cloudinit')),
      'the cloud-init drive',
    )
  }
  expect(after.length === before.length + 1, 'exactly one more machine than before')
  for (const old of before) {
    const same = after.find((guest) => guest.vmid === old.vmid)
    expect(same?.running === old.running && same.startedAtMs === old.startedAtMs, `VM ${old.vmid} untouched`)
  }
  for (const record of records) {
    const ready = record.conditions.some((one) => one.type === 'Ready' && one.status === 'True')
    expect(ready, `Ready of ${record.key}`)
  }
  expect(records.length > 0, 'any resource')
  return missing
}

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { CROFT, croft, declared, personIn } from './as-a-person.ts'
import { bringZfs, zfsMissing } from './fuse-zfs.ts'
import { labWith } from './with-lab.ts'

const { lab, within } = labWith(['cow'], zfsMissing)

test(
  'devices, IOMMU groups, SMART and pools are shown as the host has them, and each look is in the journal',
  within,
  async () => {
    const one = await lab()
    const [cow] = one.hosts
    assert.ok(cow)
    const git = declared(one)
    const look = (verb: string, ...more: readonly string[]) => croft(one, [verb, 'cow', '--dir', git, ...more])
    const install = (name: string, text: string) =>
      writeFileSync(join(cow.root, 'usr/local/sbin', name), text, { mode: 0o755 })

    const bare = look('smart')
    assert.deepEqual([bare.status, bare.stdout], [1, ''])
    assert.equal(bare.stderr, 'smartctl is not installed: declare the package smartmontools\n')
    install('smartctl', '#!/bin/sh\nprintf "1\\n2\\n3\\n4\\nSMART overall-health: PASSED \\033[2J\\n"\n')
    const smart = look('smart')
    assert.equal(smart.status, 0, smart.stderr)
    assert.match(smart.stdout, /^== .+\nSMART overall-health: PASSED /m)
    assert.ok(!smart.stdout.includes('\u001b'), 'what a disk calls itself does nothing to a terminal')

    await bringZfs(one, cow)
    const pools = look('pools')
    assert.equal(pools.status, 0, pools.stderr)
    assert.match(pools.stdout, /^== ZFS\nno pools available$/m)
    assert.match(pools.stdout, /^== btrfs$/m)

    assert.equal(look('iommu').stdout, 'The IOMMU is off, or this host has none.\n')
    install('lspci', '#!/bin/sh\necho "01:00.0 VGA compatible controller [0300]: NVIDIA RTX 3070 [10de:2484]"\n')
    const devices = look('devices', '-o', 'json')
    const shown = JSON.parse(devices.stdout) as { readonly pci: readonly string[]; readonly nics: readonly object[] }
    assert.deepEqual(shown.pci, ['01:00.0 VGA compatible controller [0300]: NVIDIA RTX 3070 [10de:2484]'])
    assert.ok(shown.nics.length > 0)

    const told = spawnSync(CROFT, ['events', '--audit', 'Host/cow', '--dir', git], {
      ...personIn(one),
      encoding: 'utf8',
    })
    assert.equal(told.status, 0, told.stderr)
    for (const verb of ['smart', 'pools', 'iommu', 'devices']) assert.match(told.stdout, new RegExp(`\\b${verb}\\b`))
  },
)

test('a restart by hand asks first, and then happens', within, async () => {
  const one = await lab()
  const [cow] = one.hosts
  assert.ok(cow)
  const git = declared(one)
  assert.match(croft(one, ['reboot', 'cow', '--dir', git]).stderr, /Say --yes if you mean it/)
  const shell = one.shells.open(cow.target({ name: 'look' }))
  const ran = croft(one, ['reboot', 'cow', '--dir', git, '--yes'])
  assert.deepEqual([ran.status, ran.stdout], [0, 'cow restarts.\n'], ran.stderr)
  // A container that restarts ends, and its sessions with it.
  const end = Date.now() + 180_000
  for (;;) {
    const answer = await shell.run(['true'], { timeoutMs: 20_000 }).catch((error: unknown) => error)
    if (answer instanceof Error) break
    assert.ok(Date.now() < end, 'it did not go down')
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
  await shell.close()
})

import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { croft, declared } from './as-a-person.ts'
import { config, declare, kept, said } from './keep.ts'
import { labWith } from './with-lab.ts'

const { lab, within } = labWith(['cow'])

/** A tree of devices as the kernel shows it, over that of the computer underneath, with a group for each card. */
const CARDS = `set -e
mkdir -p /srv/pci /srv/kernel/iommu_groups
card() { d=/srv/pci/$1; mkdir -p $d; echo 0x$2 >$d/vendor; echo 0x$3 >$d/device; echo 0x$4 >$d/class
  g=/srv/kernel/iommu_groups/$5/devices; mkdir -p $g; ln -sfn /sys/bus/pci/devices/$1 $g/$1; ln -sfn /sys/kernel/iommu_groups/$5 $d/iommu_group; }
card 0000:00:01.0 8086 1901 060400 1
card 0000:01:00.0 10de 2484 030000 1
card 0000:01:00.1 10de 228b 040300 1
card 0000:02:00.0 144d a80a 010802 2
mount --bind /srv/pci /sys/bus/pci/devices
mount --bind /srv/kernel /sys/kernel`

const vfio = (ids: string) => `  vfio: {ids: [${ids}], blacklist: [nouveau]}\n`

test(
  'cards for guests: a group is looked at first, drivers are kept away, the initramfs is made anew, a restart is asked for',
  within,
  async () => {
    const one = await lab()
    const [cow] = one.hosts
    assert.ok(cow)
    const at = (path: string) => join(cow.root, path)
    assert.equal(await said(one, 'sh', '-c', CARDS), '')
    for (const program of ['update-initramfs', 'update-grub'])
      writeFileSync(at(`usr/local/sbin/${program}`), `#!/bin/sh\necho "${program} $*" >>/var/calls\n`, { mode: 0o755 })
    writeFileSync(at('etc/default/grub'), 'GRUB_TIMEOUT=5\nGRUB_CMDLINE_LINUX_DEFAULT="quiet"\n')

    const shown = croft(one, ['iommu', 'cow', '--dir', declared(one)])
    assert.match(shown.stdout, /^group 1 {2}0000:01:00\.0 {2}10de:2484 {2}-/m, shown.stderr)
    assert.match(shown.stdout, /^group 2 {2}0000:02:00\.0 {2}144d:a80a/m)

    const alone = await kept(one, await declare(one, config('gpu', 'cow', vfio('"10de:2484"'))))
    assert.match(alone.left.join(), /0000:01:00\.1 \(10de:228b\) would go along/, 'its sound is in the same group')
    const unknown = await kept(one, await declare(one, config('gpu', 'cow', vfio('"10de:9999"'))))
    assert.match(unknown.left.join(), /no device with the id 10de:9999/)
    assert.equal(existsSync(at('etc/modprobe.d/croft-vfio.conf')), false)

    const spec = `  kernel: {args: [intel_iommu=on, iommu=pt]}\n${vfio('"10de:2484", "10de:228b"')}`
    const estate = await declare(one, config('gpu', 'cow', spec))
    const written = await kept(one, estate)
    assert.match(
      readFileSync(at('etc/default/grub'), 'utf8'),
      /^GRUB_CMDLINE_LINUX_DEFAULT="quiet intel_iommu=on iommu=pt"$/m,
    )
    assert.match(written.left.join(), /it is in force after cow was restarted/)
    // The kernel was started with them, as far as anybody can see.
    await said(
      one,
      'sh',
      '-c',
      'echo "ro quiet intel_iommu=on iommu=pt" >/srv/cmdline; mount --bind /srv/cmdline /proc/cmdline',
    )
    const bound = await kept(one, estate)
    assert.equal(
      readFileSync(at('etc/modprobe.d/croft-vfio.conf'), 'utf8'),
      'options vfio-pci ids=10de:2484,10de:228b disable_vga=1\nblacklist nouveau\nsoftdep nouveau pre: vfio-pci\n',
    )
    assert.match(bound.left.join(), /it is in force after cow was restarted/)
    assert.equal(readFileSync(at('var/calls'), 'utf8'), 'update-grub \nupdate-initramfs -u -k all\n', 'each once')
    await said(
      one,
      'sh',
      '-c',
      'mkdir -p /srv/vfio-pci; for c in 0 1; do ln -sfn /srv/vfio-pci "/srv/pci/0000:01:00.$c/driver"; done',
    )
    assert.deepEqual(await kept(one, estate), { effects: 0, left: [] })

    writeFileSync(
      at('etc/default/grub'),
      readFileSync(at('etc/default/grub'), 'utf8').replace('TIMEOUT=5', 'TIMEOUT=1'),
    )
    const base = await declare(one, config('gpu', 'cow', '  directories:\n    - {path: /srv}\n'))
    assert.deepEqual((await kept(one, base)).left, [])
    assert.equal(existsSync(at('etc/modprobe.d/croft-vfio.conf')), false)
    assert.equal(
      readFileSync(at('etc/default/grub'), 'utf8'),
      'GRUB_TIMEOUT=1\nGRUB_CMDLINE_LINUX_DEFAULT="quiet"\n',
      'our words go, and what somebody else wrote stays',
    )
  },
)

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Ran, Shell } from '../lib/shell.ts'
import { type BuildFailed, buildImage } from './build.ts'
import { buildPlan } from './build-plan.ts'
import type { BuildSpec } from './build-spec.ts'
import { TRACES } from './testing/traces.ts'

const SPEC: BuildSpec = {
  name: 'node',
  architecture: 'amd64',
  from: { type: 'debian', suite: 'bookworm', snapshot: '20251101T000000Z' },
  packages: ['nfs-common', 'curl'],
  k3s: {
    version: 'v1.34.3+k3s1',
    binary: { url: 'https://example.org/k3s', sha256: 'a'.repeat(64) },
    images: { url: 'https://example.org/images', sha256: 'b'.repeat(64) },
  },
  files: [{ path: '/etc/motd', content: 'hello $(reboot)\n', mode: '0600' }],
  run: [],
  sizeMb: 3072,
  epoch: 1_760_000_000,
}

test('the same declaration gives the same plan, another one gives another name', () => {
  assert.deepEqual(buildPlan(SPEC, '/cache', 'one'), buildPlan({ ...SPEC }, '/cache', 'one'))
  assert.equal(buildPlan(SPEC, '/elsewhere', 'one').inputs, buildPlan(SPEC, '/cache', 'one').inputs)
  const reordered = JSON.parse(JSON.stringify(Object.fromEntries(Object.entries(SPEC).reverse()))) as BuildSpec
  assert.equal(buildPlan(reordered, '/cache', 'one').inputs, buildPlan(SPEC, '/cache', 'one').inputs)
  for (const change of [{ epoch: 1 }, { packages: ['curl'] }, { sizeMb: 4096 }, { architecture: 'arm64' as const }])
    assert.notEqual(buildPlan({ ...SPEC, ...change }, '/cache', 'one').output, buildPlan(SPEC, '/cache', 'one').output)
})

test('shell steps run inside the root after the files and before it is cleaned, as one word each', () => {
  const script = "# why\n touch /etc/done '$(reboot)'\n"
  const { steps, differences, work } = buildPlan({ ...SPEC, run: [script] }, '/cache', 'one')
  const at = steps.findIndex(({ argv }) => argv.includes(script))
  const { summary, argv } = steps[at] ?? assert.fail('it does not run')
  assert.equal(summary, "run touch /etc/done '$(reboot)'")
  assert.deepEqual(argv.slice(-2), [`${work}/root`, script])
  assert.ok(['env', '-i', 'unshare', '--pid', '--kill-child'].every((word) => argv.includes(word)))
  const place = (word: string) => steps.findIndex((one) => one.summary.includes(word))
  assert.ok(place('write /etc/motd') < at && at < place('clean it'))
  assert.match(differences[0] ?? '', /own steps/)
  assert.notEqual(
    buildPlan({ ...SPEC, run: [script] }, '/cache', 'one').output,
    buildPlan(SPEC, '/cache', 'one').output,
  )
})

test('everything that chance or the moment would decide is fixed', () => {
  const { steps, differences } = buildPlan(SPEC, '/cache', 'one')
  const lines = steps.map(({ argv }) => argv.join(' '))
  const line = (word: string) => lines.find((one) => one.includes(word)) ?? assert.fail(word)
  assert.match(
    line('mmdebstrap'),
    /^env -i PATH=\S+ HOME=\/root LC_ALL=C TZ=UTC SOURCE_DATE_EPOCH=1760000000 mmdebstrap .*snapshot\.debian\.org\/archive\/debian\/20251101T000000Z/,
  )
  assert.match(line('mke2fs'), /SOURCE_DATE_EPOCH=1760000000.* -U [0-9a-f-]{36}.*hash_seed=[0-9a-f-]{36}/)
  assert.match(line('mkfs.vfat'), /--invariant.* -i [0-9a-f]{8}/)
  assert.match(String(steps.find(({ argv }) => argv[0] === 'sfdisk')?.input), /label-id: [0-9A-F-]{36}/)
  assert.deepEqual(differences, [])
  const loose = buildPlan({ ...SPEC, from: { type: 'debian', suite: 'bookworm' } }, '/cache', 'one')
  assert.match(loose.differences[0] ?? '', /snapshot/)
})

test('an image for arm64: its kernel, its console, GRUB from itself, UEFI alone, and a word when its programs do not run', () => {
  const { steps, needs } = buildPlan({ ...SPEC, architecture: 'arm64' }, '/cache', 'one')
  const lines = steps.map(({ argv }) => argv.join(' '))
  const at = (word: string) => {
    const found = lines.findIndex((line) => line.includes(word))
    return found < 0 ? assert.fail(word) : found
  }
  assert.match(lines[at('mmdebstrap')] ?? '', /--architectures=arm64 .*grub-efi-arm64-bin,.*linux-image-cloud-arm64/)
  const grub = String(steps.find(({ input }) => String(input).includes('menuentry'))?.input)
  assert.match(grub, /console=tty0 console=ttyAMA0,115200/)
  assert.doesNotMatch(grub, /ttyS0|no_timer_check/)
  assert.ok(at('arch-test arm64') < at('mmdebstrap'))
  assert.match(lines[at('grub-mkimage')] ?? '', /^chroot \S+\/root grub-mkimage -O arm64-efi -o \/run\/grub.efi/)
  assert.ok(at('mke2fs') < at('grub-mkimage'), 'what is put there for it is in no file system')
  assert.ok(lines.some((line) => line.endsWith('::EFI/BOOT/BOOTAA64.EFI')))
  assert.ok(lines.some((line) => line.includes('k3s-airgap-images-arm64.tar.zst')))
  assert.ok(!lines.some((line) => line.includes('i386-pc')))
  assert.ok(!needs.some((need) => need.package.startsWith('grub')))
  const amd64 = buildPlan(SPEC, '/cache', 'one').needs.map((need) => need.package)
  assert.ok(['grub-common', 'grub-efi-amd64-bin', 'grub-pc-bin'].every((name) => amd64.includes(name)))
})

test('what is downloaded is checked before it is used, and cleaning comes after everything that writes', () => {
  const { steps } = buildPlan(SPEC, '/cache', 'one')
  const at = (test: (argv: readonly string[]) => boolean) => steps.findIndex(({ argv }) => test(argv))
  for (const [url, sum] of [
    ['https://example.org/k3s', 'a'],
    ['https://example.org/images', 'b'],
  ] as const) {
    const got = at((argv) => argv.includes(url))
    assert.deepEqual(steps[got + 1]?.argv, ['sha256sum', '--check', '--strict', '-'])
    assert.match(String(steps[got + 1]?.input), new RegExp(`^${sum}{64}  `))
    assert.equal(steps[got + 2]?.argv[0], 'install')
  }
  const cleaned = at((argv) => argv[0] === 'find' && argv.includes('ssh_host_*'))
  const written = steps.findLastIndex(({ argv }) => argv[0] === 'tee' && argv[1]?.includes('/root/') === true)
  const disk = at((argv) => argv.includes('mke2fs'))
  assert.ok(written < cleaned && cleaned < disk)
})

test('[A13] cloud-init looks for its disc before it believes in one: without it, later boots change nothing', () => {
  const written = buildPlan(SPEC, '/cache', 'one').steps.find(
    ({ argv }) => argv[1]?.endsWith('/90-croft.cfg') && argv[0] === 'tee',
  )
  const [, list = ''] = /^datasource_list: \[(.*)\]$/m.exec(String(written?.input)) ?? []
  assert.ok(list.split(', ').filter((name) => name !== 'None').length > 1, list)
})

test('[S-15] contents go by stdin and names by words: no shell reads them', () => {
  const { steps } = buildPlan(SPEC, '/cache', 'one')
  const motd = steps.find(({ argv }) => argv[0] === 'tee' && argv[1]?.endsWith('/etc/motd'))
  assert.equal(motd?.input, 'hello $(reboot)\n')
  for (const { argv } of steps) assert.ok(!argv.join(' ').includes('$(reboot)'))
})

test('from another image: its checksum first, its root in a mount namespace of its own', () => {
  const checksum = { algorithm: 'sha512', value: 'c'.repeat(128) } as const
  const plan = buildPlan(
    { ...SPEC, from: { type: 'disk', url: 'https://example.org/base.qcow2', checksum } },
    '/cache',
    'one',
  )
  const words = plan.steps.map(({ argv }) => argv[0])
  assert.ok(words.indexOf('sha512sum') < words.indexOf('qemu-img'))
  assert.ok(plan.steps.some(({ argv }) => argv[0] === 'unshare' && argv.includes('--mount')))
  assert.match(plan.differences[0] ?? '', /mirrors/)
  // The builder's name servers are in it only while packages are fetched.
  const resolver = plan.steps.filter(({ argv }) => argv.some((word) => word.endsWith('resolv.conf')))
  assert.deepEqual(
    resolver.slice(0, 3).map(({ argv }) => argv.slice(-2)),
    [
      [`${plan.work}/root/etc/resolv.conf`, `${plan.work}/resolv.conf`],
      ['/etc/resolv.conf', `${plan.work}/root/etc/resolv.conf`],
      [`${plan.work}/resolv.conf`, `${plan.work}/root/etc/resolv.conf`],
    ],
  )
})

/** Makes a computer on which all programs succeed, except those given. */
function paperShell(
  answers: (argv: readonly string[]) => Partial<Ran> | undefined,
): Shell & { readonly ran: string[] } {
  const ran: string[] = []
  return {
    ran,
    run: (argv) => {
      ran.push(argv.join(' '))
      return Promise.resolve({ code: 0, stdout: '', stderr: '', ...answers(argv) })
    },
    readFile: () => Promise.resolve(undefined),
    writeFile: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
}

const signal = new AbortController().signal
const plan = buildPlan(SPEC, '/cache', 'one')

for (const [rule, paths] of Object.entries(TRACES))
  test(`[R16] an image with a trace in it is not finished, and its work is cleared away: ${rule}`, async () => {
    for (const trace of paths) {
      const machineId = trace === 'etc/machine-id' ? '' : 'f 444 0 etc/machine-id\n'
      const shell = paperShell(([program, path]) => {
        if (program === 'stat') return { code: 1 }
        if (program === 'find' && path === `${plan.work}/root`) return { stdout: `${machineId}f 644 33 ${trace}\n` }
        return undefined
      })
      await assert.rejects(
        buildImage(plan, shell, { signal }),
        (error: BuildFailed) => error.residues[0]?.rule === rule && error.residues[0].path === `/${trace}`,
      )
      assert.ok(!shell.ran.some((line) => line.startsWith('mv ')), 'it gets no name')
      assert.equal(shell.ran.at(-1), `rm -rf --one-file-system ${plan.work}`)
    }
  })

test('an image that was made before from the same inputs is used as it is', async () => {
  const shell = paperShell(([program]) =>
    program === 'stat'
      ? { stdout: '42\n' }
      : program === 'sha256sum'
        ? { stdout: `${'d'.repeat(64)}  x\n` }
        : undefined,
  )
  const built = await buildImage(plan, shell, { signal })
  assert.deepEqual([built.reused, built.bytes, built.sha256], [true, 42, 'd'.repeat(64)])
  assert.equal(shell.ran.length, 2)
})

test('a program that is missing is told by its package before anything is begun', async () => {
  const shell = paperShell((argv) => (argv[0] === 'stat' || argv.at(-1) === 'mcopy' ? { code: 1 } : undefined))
  await assert.rejects(buildImage(plan, shell, { signal }), /apt-get install mtools/)
})

test('two builds of one image at once touch nothing of each other, and the image that is finished first stays', async () => {
  const [one, two] = ['one', 'two'].map((run) => buildPlan(SPEC, '/cache', run))
  assert.ok(one !== undefined && two !== undefined)
  assert.equal(one.output, two.output)
  const said = (plan: typeof one) => JSON.stringify(plan.steps.map(({ argv }) => argv))
  assert.ok(!said(one).includes(two.work) && !said(two).includes(one.work))
  // Only what is older than any build is cleared away.
  for (const { argv } of one.steps.filter(({ argv: words }) => words.includes('-rf') && words[0] === 'find'))
    assert.deepEqual(argv.slice(argv.indexOf('-mmin'), argv.indexOf('-mmin') + 2), ['-mmin', '+1440'])
  let looks = 0
  const shell = paperShell(([program]) => {
    if (program === 'stat') return looks++ === 0 ? { code: 1 } : { stdout: '42\n' }
    if (program === 'find') return { stdout: 'f 444 0 etc/machine-id\n' }
    return program === 'sha256sum' ? { stdout: `${'d'.repeat(64)}  x\n` } : undefined
  })
  await buildImage(one, shell, { signal })
  assert.ok(shell.ran.includes(`mv -n ${one.work}/image.qcow2 ${one.output}`))
})

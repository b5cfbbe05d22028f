import assert from 'node:assert/strict'
import { volumes } from '../../sim/libvirt/domains.ts'
import { APPROVED, asDeclared, machine, TWO, valid, WEB } from './libvirt-machines.ts'
import { type LibvirtRun, simulateLibvirt } from './libvirt-run.ts'

/** More memory, which restarts it, and a larger disk; the other one is left alone. */
const CHANGED = valid({
  'web.yaml': `${WEB}${machine('web-1', '192.168.122.20').replace('memory: 1Gi', 'memory: 2Gi').replace('size: 10Gi', 'size: 12Gi')}${machine('web-2', '192.168.122.21', '  libvirt: {disks: copy, seed: cdrom, bios: ovmf}\n')}`,
})
/** One disk, which its image brings back. */
const single = (more: string) =>
  valid({
    'web.yaml': `${WEB}${machine('web-1', '192.168.122.20', more)
      .replace(', {size: 5Gi, storage: vms}', '')
      .replace('{name: web-1}', '{name: web-1, annotations: {croft.dev/replace: allowed}}')}`,
  })
const NONE = valid({ 'web.yaml': `${WEB}${APPROVED}` })

async function made(seed: number): Promise<LibvirtRun> {
  const run = simulateLibvirt(seed, TWO, 'kvm')
  assert.equal(await run.settle(), 'settled')
  return run
}

/** What happens to machines, each from its beginning to what must be at its end. */
export const STORIES = {
  'while they are made': {
    begin: async (seed: number) => simulateLibvirt(seed, TWO, 'kvm'),
    ended: (run: LibvirtRun, hint: string) => asDeclared(run, hint),
  },
  'while one is changed': {
    begin: async (seed: number) => Object.assign(await made(seed), { estate: CHANGED }),
    ended(run: LibvirtRun, hint: string) {
      asDeclared(run, hint)
      const [changed] = [...run.host.domains.values()].filter(({ name }) => name === 'web-1')
      assert.match(changed?.live ?? '', /<memory unit='KiB'>2097152<\/memory>/, hint)
      assert.ok(
        [...volumes(run.host, 'default').values()].some(({ sizeBytes }) => sizeBytes === 12 * 1024 ** 3),
        hint,
      )
    },
  },
  'while one is replaced': {
    async begin(seed: number) {
      const run = simulateLibvirt(seed, single(''), 'kvm')
      assert.equal(await run.settle(), 'settled')
      return Object.assign(run, { estate: single('  libvirt: {bios: ovmf}\n') })
    },
    ended(run: LibvirtRun, hint: string) {
      const [{ live = '' } = {}, ...more] = run.host.domains.values()
      assert.match(live, /firmware='efi'/, hint)
      assert.equal(more.length, 0, hint)
    },
  },
  'while they are taken away': {
    begin: async (seed: number) => Object.assign(await made(seed), { estate: NONE }),
    ended(run: LibvirtRun, hint: string) {
      assert.equal(run.host.domains.size, 0, hint)
      const left = [...volumes(run.host, 'default').keys()].filter((name) => name.startsWith('croft-'))
      assert.deepEqual(left, [], hint)
    },
  },
} as const

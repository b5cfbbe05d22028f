import type { BuildSpec } from './build-spec.ts'

/** How QEMU runs an image: with hardware acceleration if it works, else by software emulation. */
export type Accelerator = 'kvm' | 'tcg'

/** `uname -m` of computers that can run it with hardware acceleration. */
export const MACHINE_OF: Readonly<Record<BuildSpec['architecture'], string>> = { amd64: 'x86_64', arm64: 'aarch64' }

const FIRMWARE = '/usr/share/qemu-efi-aarch64/QEMU_EFI.fd'
const MAC = '52:54:00:c0:f7:01'

interface Emulator {
  readonly program: string
  readonly needs: readonly { readonly program: string; readonly package: string }[]
  readonly machine: readonly string[]
}

const EMULATORS: Readonly<Record<BuildSpec['architecture'], Emulator>> = {
  amd64: {
    program: 'qemu-system-x86_64',
    needs: [{ program: 'qemu-system-x86_64', package: 'qemu-system-x86' }],
    machine: ['-machine', 'q35'],
  },
  arm64: {
    program: 'qemu-system-aarch64',
    needs: [
      { program: 'qemu-system-aarch64', package: 'qemu-system-arm' },
      { program: FIRMWARE, package: 'qemu-efi-aarch64' },
    ],
    machine: ['-machine', 'virt', '-bios', FIRMWARE],
  },
}

const QEMU_IMG = { program: 'qemu-img', package: 'qemu-utils' }

/** Programs, and whole paths of files, that must be there to start an image of this architecture. */
export function bootNeeds(architecture: BuildSpec['architecture']): Emulator['needs'] {
  return [...EMULATORS[architecture].needs, QEMU_IMG]
}

/** Files of one start. The image itself is only read: the machine writes into the overlay. */
export interface BootPlace {
  readonly overlay: string
  readonly seed: string
  /** Two pipes, `.in` and `.out`, that lead to the guest agent. */
  readonly agent: string
  readonly console: string
}

export function bootPlace(work: string): BootPlace {
  return {
    overlay: `${work}/overlay.qcow2`,
    seed: `${work}/seed.iso`,
    agent: `${work}/agent`,
    console: `${work}/console`,
  }
}

/** Returns QEMU's arguments. The machine's network card gets an address from QEMU and reaches nothing. Pure. */
export function bootWords(
  place: BootPlace,
  { architecture, accelerator, uuid }: ImageBoot & { readonly accelerator: Accelerator },
): readonly string[] {
  const { program, machine } = EMULATORS[architecture]
  // Emulated code is kept in memory: without a bound it takes as much as the machine itself.
  const speed = accelerator === 'kvm' ? ['kvm', 'host'] : ['tcg,thread=multi,tb-size=128', 'max']
  const [accel = '', cpu = ''] = speed
  const options: readonly (readonly [string, string])[] = [
    ['-display', 'none'],
    ['-accel', accel],
    ['-cpu', cpu],
    ['-smp', '2'],
    ['-m', '1024'],
    ['-uuid', uuid],
    ['-drive', `file=${place.overlay},format=qcow2,if=virtio`],
    // A disk and no disc drive: kernels for clouds have no driver for one.
    ['-drive', `file=${place.seed},format=raw,if=virtio,readonly=on`],
    ['-netdev', 'user,id=net,restrict=on'],
    ['-device', `virtio-net-pci,netdev=net,mac=${MAC}`],
    ['-device', 'virtio-rng-pci'],
    ['-device', 'virtio-serial-pci'],
    ['-chardev', `pipe,id=agent,path=${place.agent}`],
    ['-device', 'virtserialport,chardev=agent,name=org.qemu.guest_agent.0'],
    ['-serial', `file:${place.console}`],
  ]
  return [program, '-nodefaults', '-no-user-config', '-no-reboot', ...machine, ...options.flat()]
}

/** One start of an image. */
export interface ImageBoot {
  readonly architecture: BuildSpec['architecture']
  /** The machine's id. Its seed has it too, which proves that the machine has read this seed. */
  readonly uuid: string
}

/** Returns the machine's seed: its identity, an address by DHCP, and nothing that takes long and proves nothing. */
export function bootSeed({ uuid }: ImageBoot): readonly { readonly name: string; readonly text: string }[] {
  const network = {
    version: 2,
    ethernets: { net: { match: { macaddress: MAC }, dhcp4: true, dhcp6: false, 'accept-ra': false } },
  }
  const user = { locale: false, ssh_genkeytypes: ['ed25519'], package_update: false }
  return [
    { name: 'meta-data', text: `${JSON.stringify({ 'instance-id': uuid, 'local-hostname': 'croft-verify' })}\n` },
    { name: 'network-config', text: `${JSON.stringify(network)}\n` },
    { name: 'user-data', text: `#cloud-config\n${JSON.stringify(user)}\n` },
  ]
}

import { type Descriptions, type HypervisorTexts, under } from './describe.ts'
import { libvirt } from './libvirt.ts'

const TEXTS: Readonly<Record<string, HypervisorTexts>> = { libvirt }

export const hypervisorKinds: Readonly<Record<string, Descriptions>> = Object.assign(
  {},
  ...Object.values(TEXTS).map(({ kinds }) => kinds),
)

/** The blocks of all hypervisors, as a MachineClass, a node or (with `machine`) a Machine has them. */
export function hypervisorBlocks(about: (hypervisor: string) => string, ...also: readonly 'machine'[]): Descriptions {
  return Object.fromEntries(
    Object.entries(TEXTS).flatMap(([name, texts]) =>
      [{ [name]: about(name) }, under(name, texts.hardware), ...also.map((part) => under(name, texts[part]))].flatMap(
        (fields) => Object.entries(fields),
      ),
    ),
  )
}

import { mergeUserData } from '../../cloudinit/merge.ts'
import type { SeedProblem } from '../../cloudinit/shape.ts'
import { parseUserData } from '../../cloudinit/user-data.ts'
import { checkUserData } from '../../cloudinit/validate.ts'
import { GATE_DEADLINES, GATES, type GateName, type GateSettings } from '../../k3s/gates.ts'
import { nodeSeed } from '../../k3s/node-seed.ts'
import { defined } from '../../lib/defined.ts'
import type { TreeMap } from '../../model/vm.ts'
import { milliseconds } from '../fields/duration.ts'
import type { FieldProblem } from '../kind.ts'
import { isVolume, type WrittenMachine } from '../schemas/machine.ts'
import { rangesOf } from './address-ranges.ts'
import type { Cluster, Member, MemberPath } from './members.ts'
import type { ClusterFields } from './schema.ts'

type WrittenUserData = WrittenMachine['userData']
type UserDataResult = { readonly tree: TreeMap } | { readonly problems: readonly FieldProblem[] }

/** Returns a node's cloud-init document: that of all machines, and the additions for K3s, class and cluster. */
export function nodeUserData(
  cluster: Cluster,
  member: Member,
  ofClass: WrittenUserData,
  routed: boolean,
): UserDataResult {
  const { spec } = cluster
  const ipv6 = rangesOf(spec).families.includes(6)
  const needed = nodeSeed({ gates: gateSettings(spec, member.name, routed), ipv6, packages: packagesOf(spec) })
  const classAt = member.fields.class === undefined ? ['spec', 'class'] : [...member.path, 'class']
  const withClass = add(needed, ofClass, classAt, false)
  return 'problems' in withClass ? withClass : add(withClass.tree, spec.userData, ['spec', 'userData'], true)
}

/** Returns the gates' deadlines as declared, and what they check. Without a router there is no gate for a route. */
export function gateSettings(spec: ClusterFields, hostname: string, routed: boolean): GateSettings {
  const deadline = (name: GateName) => {
    if (name === 'route' && !routed) return undefined
    const written = spec.gates?.[name]
    if (written === 'off' || written === false) return undefined
    return written === undefined ? GATE_DEADLINES[name] : milliseconds(written) / 1_000
  }
  const dnsName = nameToFetchFrom(spec)
  return {
    hostname,
    deadlines: defined<GateSettings['deadlines']>(
      Object.fromEntries(GATES.map((name) => [name, deadline(name)])) as Record<GateName, number | undefined>,
    ),
    ...defined({ dnsName }),
  }
}

/** Returns the name to resolve before K3s can be fetched. Undefined if the declaration needs none. */
function nameToFetchFrom({ artifacts }: ClusterFields): string | undefined {
  const first = artifacts?.[0]
  if (first === undefined || first.release === true) return 'github.com'
  const host = /^https?:\/\/([^/:[\]]+)/.exec(first.mirror ?? '')?.[1]
  return host === undefined || /^[0-9.]+$/.test(host) ? undefined : host
}

/** If the image contains everything, install nothing: it must also have the guest agent. */
function packagesOf({ artifacts }: ClusterFields): readonly string[] {
  const offline = artifacts !== undefined && artifacts.length > 0 && artifacts.every((one) => one.file !== undefined)
  return offline ? [] : ['qemu-guest-agent']
}

function add(needed: TreeMap, written: WrittenUserData, at: MemberPath, places: boolean): UserDataResult {
  if (written === undefined) return { tree: needed }
  const asProblems = (found: readonly SeedProblem[]): UserDataResult => ({
    problems: found.map(({ path, message, hint }) =>
      defined<FieldProblem>({
        code: 'bad-user-data',
        path: places && typeof written !== 'string' ? [...at, ...path] : at,
        message: places ? message : `the user data of the class: ${message}`,
        hint,
      }),
    ),
  })
  if (isVolume(written))
    return asProblems([
      { path: [], message: 'user data on a volume cannot be added to', hint: 'write the cloud-config here' },
    ])
  const own =
    typeof written === 'string' ? parseUserData(written) : { tree: JSON.parse(JSON.stringify(written)) as TreeMap }
  if ('problems' in own) return asProblems(own.problems)
  const wrong = checkUserData(own.tree)
  if (wrong.length > 0) return asProblems(wrong)
  const merged = mergeUserData(needed, own.tree)
  return 'problems' in merged ? asProblems(merged.problems) : merged
}

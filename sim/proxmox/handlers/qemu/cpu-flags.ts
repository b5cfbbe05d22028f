import { type Call, hostOf, type Routes } from '../../call.ts'
import type { Thing } from '../shelf.ts'

/** Flags that a single machine can be given. What each is for, in a word. */
const OF_A_MACHINE: Readonly<Record<string, string>> = {
  'nested-virt': 'Machines within the machine: svm or vmx, whichever the host has.',
  aes: 'Encryption by the processor.',
  'amd-no-ssb': 'Tells an AMD guest that its host needs no mitigation.',
  'amd-ssbd': 'Faster mitigation on AMD.',
  'hv-evmcs': 'Faster nested machines for Windows on Intel.',
  'hv-tlbflush': 'Faster flushes for Windows.',
  ibpb: 'Mitigation on AMD.',
  'md-clear': 'Tells the guest that MDS is mitigated.',
  pcid: 'Cheaper mitigation on older Intel.',
  pdpe1gb: 'Pages of 1 GiB.',
  'spec-ctrl': 'Mitigation on Intel.',
  ssbd: 'Mitigation on Intel.',
  'virt-ssbd': 'Base of the mitigation on AMD.',
}

/** What a processor model can be put together from, beside those. */
const UNDERSTOOD = (
  'abm adx apic arat avx avx2 avx512f bmi1 bmi2 clflush clflushopt clwb cmov cx16 cx8 de erms f16c fma fpu fsgsbase ' +
  'fxsr invpcid lahf-lm lm mca mce mmx movbe msr mtrr nx pae pat pclmulqdq pge pni popcnt pse pse36 rdrand rdseed ' +
  'rdtscp sep sha-ni smap smep sse sse2 sse4.1 sse4.2 ssse3 svm syscall tsc tsc-deadline umip vaes vme vmx vpclmulqdq ' +
  'x2apic xsave xsavec xsaveopt xsaves'
).split(' ')

/** The hosts here are of Intel: what only AMD has, none of them can give. */
const NOWHERE = new Set(['amd-no-ssb', 'amd-ssbd', 'ibpb', 'svm', 'virt-ssbd'])

export const cpuFlagRoutes: Routes = {
  'GET /nodes/{node}/capabilities/qemu/cpu-flags': (call) => {
    hostOf(call)
    return flags(call, Object.keys(OF_A_MACHINE))
  },
  'GET /cluster/qemu/cpu-flags': (call) => flags(call, [...new Set([...UNDERSTOOD, ...Object.keys(OF_A_MACHINE)])]),
}

/** Nested machines first, then what some host can give, then the rest; each in the order of its name. */
function flags({ world, params }: Call, names: readonly string[]): Thing[] {
  if (params.arch === 'aarch64') return []
  const hosts = params.accel === 'tcg' ? [] : [...world.hosts.keys()].sort()
  const rank = (name: string) => (name === 'nested-virt' ? 0 : NOWHERE.has(name) ? 2 : 1)
  return [...names]
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .map((name) => {
      const description = OF_A_MACHINE[name]
      return {
        name,
        'supported-on': NOWHERE.has(name) ? [] : hosts,
        ...(description === undefined ? {} : { description }),
      }
    })
}

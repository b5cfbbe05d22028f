import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { VmSpec } from '../../model/vm.ts'
import { declaredValues } from './declared.ts'
import { viewDomain } from './domain-view.ts'
import { element, parseXml } from './xml.ts'

const PLACES = { pools: new Map(), networks: new Set<string>() }
const view = (inner: string) => viewDomain(parseXml(`<domain>${inner}<devices/></domain>`) ?? element('none'), PLACES)

const CPUS: readonly [string, string, string | undefined][] = [
  ['none', '', undefined],
  ['that of the host', '<cpu mode="host-passthrough"/>', 'host'],
  ['one like the host’s', '<cpu mode="host-model"><model>Skylake</model></cpu>', 'host-model'],
  ['all that QEMU can do', '<cpu mode="maximum"><model>Skylake</model></cpu>', 'maximum'],
  ['a model', '<cpu mode="custom"><model>x86-64-v2-AES</model></cpu>', 'x86-64-v2-AES'],
  ['a model that is not named', '<cpu mode="custom"/>', undefined],
]
for (const [name, xml, expected] of CPUS)
  test(`the processor of a domain: ${name}`, () => assert.equal(view(xml).cpu, expected))

const MACHINES: readonly [string, 'q35' | 'pc' | 'virt' | undefined][] = [
  ['pc-q35-7.2', 'q35'],
  ['q35', 'q35'],
  ['pc-i440fx-7.2', 'pc'],
  ['pc', 'pc'],
  ['virt-7.2', 'virt'],
  ['virt', 'virt'],
  ['isapc', undefined],
]
for (const [machine, expected] of MACHINES)
  test(`the machine of a domain: ${machine}`, () => {
    assert.equal(view(`<os><type machine="${machine}">hvm</type></os>`).machine, expected)
  })

test('a machine that libvirt has is declared by its name; another word is none of its business', () => {
  const declared = (machine: string | undefined) =>
    declaredValues({ host: 'h', name: 'a', power: 'running', disks: [], nics: [], machine } as VmSpec, 'u').find(
      ({ path }) => path === 'machine',
    )?.to
  for (const machine of ['pc', 'q35', 'virt']) assert.equal(declared(machine), machine)
  assert.equal(declared('pc-i440fx-9.0'), undefined)
  assert.equal(declared(undefined), undefined)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { writeValue } from './domain-write.ts'
import { readDescription, readMark, readTags, writeMark } from './marks.ts'
import {
  childrenOf,
  element,
  find,
  type HostPlaces,
  isElement,
  parseXml,
  printXml,
  textIn,
  type XmlElement,
  type XmlNode,
} from './xml.ts'

const NAME = fc.stringMatching(/^[a-z][a-z0-9:_-]{0,8}[a-z0-9]$/).filter((name) => !name.includes('::'))
/** All characters of XML 1.0; a carriage return survives since it is written as a reference. */
const TEXT = fc
  .string({ unit: 'binary', maxLength: 20 })
  .map((text) => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ud800-\udfff\ufffe\uffff]/g, ''))
const ATTRIBUTES = fc.dictionary(
  NAME,
  TEXT.map((text) => text.replace(/[\t\n\r]/g, ' ')),
  { maxKeys: 3, noNullPrototype: true },
)

const TREE: fc.Arbitrary<XmlElement> = fc.letrec<{ node: XmlElement }>((tie) => ({
  node: fc
    .record({
      name: NAME,
      attributes: ATTRIBUTES,
      children: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        TEXT.filter((text) => text.trim() !== '').map((text): XmlNode[] => [{ text }]),
        fc.array(tie('node') as fc.Arbitrary<XmlNode>, { maxLength: 4 }),
      ),
    })
    .map((one) => one as XmlElement),
})).node

/** White space between elements has no meaning. */
function meaning(node: XmlElement): unknown {
  const children = node.children.filter((child) => !('text' in child) || child.text.trim() !== '')
  return [
    node.name,
    Object.entries(node.attributes)
      .map(([name, value]) => `${name}=${value}`)
      .sort(),
    children.map((child) => (isElement(child) ? meaning(child) : child)),
  ]
}

test('what is parsed and printed again means the same', () => {
  fc.assert(
    fc.property(TREE, (tree) => {
      const printed = printXml(tree)
      const again = parseXml(printed)
      assert.ok(again)
      assert.deepEqual(meaning(again), meaning(tree))
      assert.equal(printXml(again), printed)
    }),
    { numRuns: 300 },
  )
})

const DOMAIN = `<domain type='kvm' xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'>
  <name>web</name>
  <uuid>11111111-2222-4333-8444-555555555555</uuid>
  <description>by hand &amp; with care</description>
  <metadata><other:thing xmlns:other="urn:x" a="1"><![CDATA[<raw>]]></other:thing></metadata>
  <memory unit='GiB'>1</memory>
  <vcpu placement='static' current='1'>2</vcpu>
  <os><type arch='x86_64' machine='pc-q35-7.2'>hvm</type></os>
  <!-- a person's remark -->
  <devices>
    <disk type='file' device='disk'><driver name='qemu' type='qcow2' queues='4'/><source file='/pool/a.qcow2'/><target dev='vda' bus='virtio'/><address type='pci' slot='0x07'/></disk>
    <interface type='network'><source network='default'/><mac address='52:54:00:aa:bb:cc'/><model type='virtio'/><bandwidth><inbound average='1000'/></bandwidth></interface>
    <tpm model='tpm-crb'><backend type='emulator' version='2.0'/></tpm>
  </devices>
  <qemu:commandline><qemu:arg value='-snapshot'/></qemu:commandline>
</domain>`
const PLACES: HostPlaces = {
  pools: new Map([['default', { type: 'dir', path: '/pool' }]]),
  networks: new Set(['default']),
}

/** Returns all elements by path, with their content. */
function leaves(node: XmlElement, path = ''): string[] {
  const here = `${path}/${node.name} ${JSON.stringify(node.attributes)} ${textIn(node).trim()}`
  return [here, ...node.children.filter(isElement).flatMap((child) => leaves(child, `${path}/${node.name}`))]
}

const CHANGES: Readonly<Record<string, { readonly value: unknown; readonly touches: RegExp }>> = {
  'memory.dedicatedMb': { value: 4096, touches: /^\/domain\/(memory|currentMemory) / },
  'cpu.cores': { value: 4, touches: /^\/domain\/vcpu / },
  'cpu.type': { value: 'host', touches: /^\/domain\/cpu / },
  'agent.enabled': { value: true, touches: /^\/domain\/devices\/channel/ },
  description: { value: 'new words', touches: /^\/domain\/description / },
  'disks.virtio0.cache': { value: 'none', touches: /\/disk\/driver / },
  'disks.virtio1': {
    value: { slot: 'virtio1', pool: 'default', volume: 'b.qcow2', format: 'qcow2' },
    touches: /^\/domain\/devices\/disk/,
  },
  'nics.net0.bridge': { value: 'br0', touches: /\/interface(\/source)? / },
  'nics.net0.vlan': { value: 20, touches: /\/interface\/vlan/ },
  'nics.net1': { value: { slot: 'net1', bridge: 'br0', model: 'virtio' }, touches: /\/devices\/interface/ },
  'pci.hostpci0': { value: '0000:01:00.0', touches: /\/hostdev/ },
  'usb.usb0': { value: '1a6e:089a', touches: /\/hostdev/ },
}

test('every change leaves alone what it does not name, also what nobody here understands', () => {
  for (const [path, { value, touches }] of Object.entries(CHANGES)) {
    const before = parseXml(DOMAIN)
    const after = parseXml(DOMAIN)
    assert.ok(before && after)
    assert.equal(writeValue(after, path, value, PLACES), true, path)
    const again = parseXml(printXml(after))
    assert.ok(again)
    const [was, is] = [leaves(before), leaves(again)]
    const changed = [...was.filter((one) => !is.includes(one)), ...is.filter((one) => !was.includes(one))]
    assert.ok(changed.length > 0, path)
    for (const one of changed) assert.match(one, touches, path)
    assert.match(printXml(again), /a person's remark/)
    assert.match(printXml(again), /&lt;raw&gt;/)
  }
})

test('a card or device goes by the name that croft gave it, and those of others stay', () => {
  const domain = parseXml(DOMAIN)
  assert.ok(domain)
  writeValue(domain, 'nics.net1', { slot: 'net1', bridge: 'br0', model: 'virtio' }, PLACES)
  writeValue(domain, 'pci.hostpci0', '0000:01:00.0', PLACES)
  writeValue(domain, 'usb.usb0', '1a6e:089a', PLACES)
  assert.notDeepEqual(meaning(domain), meaning(parseXml(DOMAIN) ?? domain))
  for (const path of ['nics.net0', 'nics.net1', 'pci.hostpci0', 'usb.usb0'])
    assert.equal(writeValue(domain, path, null, PLACES), true, path)
  assert.deepEqual(meaning(domain), meaning(parseXml(DOMAIN) ?? domain))
  assert.equal(writeValue(domain, 'disks.virtio0', null, PLACES), false)
})

test('a path that nobody knows is refused, and so is a disk in a pool that is not there', () => {
  const domain = parseXml(DOMAIN)
  assert.ok(domain)
  assert.equal(writeValue(domain, 'nothing', 1, PLACES), false)
  const disk = { slot: 'virtio1', pool: 'gone', volume: 'x', format: 'raw' }
  assert.equal(writeValue(domain, 'disks.virtio1', disk, PLACES), false)
  assert.deepEqual(meaning(domain), meaning(parseXml(DOMAIN) ?? domain))
})

test('a mark is read back, keeps what people wrote, and a copy of the domain does not carry it', () => {
  const domain = parseXml(DOMAIN)
  assert.ok(domain)
  const uuid = '11111111-2222-4333-8444-555555555555'
  const mark = {
    uid: '0123456789abcdef',
    owner: 'Machine/web',
    estate: 'home',
    deletion: 'Delete',
    protect: true,
    serverOf: 'Cluster/homelab',
    seed: '0123456789ab',
  } as const
  writeMark(domain, mark, uuid)
  writeMark(domain, mark, uuid)
  const again = parseXml(printXml(domain))
  assert.ok(again)
  assert.deepEqual(readMark(again), mark)
  assert.equal(readDescription(again), 'by hand & with care')
  assert.equal(childrenOf(find(again, 'metadata'), 'croft:machine').length, 1)
  assert.equal(childrenOf(find(again, 'metadata'), 'other:thing').length, 1)
  assert.ok(writeValue(again, 'tags', ['a', 'b'], PLACES))
  assert.deepEqual(readTags(again), ['a', 'b'])
  const copy = parseXml(printXml(again).replace(`<uuid>${uuid}`, '<uuid>99999999-2222-4333-8444-555555555555'))
  assert.ok(copy)
  assert.equal(readMark(copy), undefined)
})

test('[S-15] names that would lead out of an element stay text', () => {
  const evil = `x'/><evil a='`
  const printed = printXml(element('domain', { a: evil }, [element('name', {}, '</name><evil/>')]))
  const again = parseXml(printed)
  assert.ok(again)
  assert.equal(childrenOf(again, 'evil').length, 0)
  assert.equal(again.attributes.a, evil)
  assert.equal(textIn(find(again, 'name')), '</name><evil/>')
})

test('a document with entities of its own is not read', () => {
  assert.equal(parseXml('<!DOCTYPE x [<!ENTITY a "b">]><domain>&a;</domain>'), undefined)
  assert.equal(parseXml('<domain><name>x</domain>'), undefined)
  assert.equal(parseXml('error: nothing'), undefined)
})

for (const [what, text] of [
  ['20,000 levels', `${'<a>'.repeat(20_000)}${'</a>'.repeat(20_000)}`],
  ['20,000 levels without an end', '<a>'.repeat(20_000)],
  ['2.3 MB of attributes', `<a ${Array.from({ length: 200_000 }, (_, at) => `a${at}='x'`).join(' ')}/>`],
  ['one attribute of 2.3 MB', `<a b='${'x'.repeat(2_300_000)}'/>`],
  ['a tag without an end', `<a ${"b='x' ".repeat(400_000)}`],
  ['quotes without an end', `<a>${"<b c='".repeat(300_000)}`],
  ['a million empty elements', `<a>${'<b/>'.repeat(1_000_000)}</a>`],
  ['a comment without an end', `<a><!-- ${'-'.repeat(2_000_000)}`],
  ['angle brackets alone', '<'.repeat(2_000_000)],
] as const)
  test(`[S-31] a definition of ${what} is refused at once`, () => {
    const before = process.cpuUsage()
    assert.equal(parseXml(text), undefined)
    const { user, system } = process.cpuUsage(before)
    assert.ok(user + system < 1_000_000, `${(user + system) / 1_000_000} s`)
  })

test('what libvirt writes is far from the bound', () => {
  const notes = `<!-- ${'<a>'.repeat(1_000)} --><![CDATA[${'<a>'.repeat(1_000)}]]><d e="a > b" f='"'/>`
  const disks = "<disk type='file'><source file='/a/b'/></disk>".repeat(500)
  const read = parseXml(`<?xml version='1.0'?>\n<domain><metadata>${notes}</metadata>${disks}</domain>`)
  assert.equal(childrenOf(read, 'disk').length, 500)
  assert.deepEqual(find(read, 'metadata/d')?.attributes, { e: 'a > b', f: '"' })
})

test('every disk on SCSI is on the one controller that was made for them', () => {
  const domain = element('domain', {}, [element('devices')])
  for (const slot of ['scsi0', 'scsi11']) {
    const disk = { slot, pool: 'default', volume: `${slot}.qcow2`, format: 'qcow2' }
    assert.ok(writeValue(domain, `disks.${slot}`, disk, PLACES))
  }
  const devices = find(domain, 'devices')
  assert.deepEqual(
    childrenOf(devices, 'controller').map(({ attributes }) => [attributes.type, attributes.model]),
    [['scsi', 'virtio-scsi']],
  )
  assert.deepEqual(
    childrenOf(devices, 'disk').map((disk) => {
      const { controller, unit } = find(disk, 'address')?.attributes ?? {}
      return [controller, unit]
    }),
    [
      ['0', '0'],
      ['0', '11'],
    ],
  )
})

import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { test } from 'node:test'
import { sendDatagram } from './datagram.ts'
import { magicPacket } from './wake.ts'

test('a magic packet is six times 255 and sixteen times the address', () => {
  const packet = magicPacket('BC:24:11:00:00:01')
  assert.equal(packet.length, 102)
  assert.deepEqual(Array.from(packet.slice(0, 6)), Array(6).fill(255))
  for (let at = 6; at < 102; at += 6)
    assert.deepEqual(Array.from(packet.slice(at, at + 6)), [0xbc, 0x24, 0x11, 0, 0, 1])
  for (const wrong of ['', 'BC:24:11:00:00', 'BC:24:11:00:00:GG', 'x']) assert.throws(() => magicPacket(wrong))
})

test('a packet that is sent arrives whole', async () => {
  const socket = createSocket('udp4')
  try {
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
    const arrived = new Promise<Buffer>((resolve) => socket.once('message', resolve))
    await sendDatagram('127.0.0.1', socket.address().port, magicPacket('BC:24:11:00:00:01'))
    assert.deepEqual(new Uint8Array(await arrived), magicPacket('BC:24:11:00:00:01'))
  } finally {
    socket.close()
  }
})

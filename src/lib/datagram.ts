import { createSocket } from 'node:dgram'
import { isIPv6 } from 'node:net'

/** Sends one UDP packet, to the whole network if the address is a broadcast one. Expects no answer. */
export async function sendDatagram(address: string, port: number, bytes: Uint8Array): Promise<void> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject)
      socket.bind(0, () => {
        if (!isIPv6(address)) socket.setBroadcast(true)
        socket.send(bytes, port, address, (error) => (error === null ? resolve() : reject(error)))
      })
    })
  } finally {
    socket.close()
  }
}

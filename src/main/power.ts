import type { DriverDeps } from '../drivers/port.ts'
import type { PowerDriver } from '../drivers/power-port.ts'
import { LIMITS } from '../lib/limits.ts'

/** Opens the means to switch hosts: magic packets, management controllers, and the UPS with its remaining time. */
export async function openPower(driverDeps: DriverDeps): Promise<PowerDriver> {
  const [{ createPowerDriver }, { exchangeLines }, { sendDatagram }, { openTlsWire }] = await Promise.all([
    import('../drivers/power/driver.ts'),
    import('../drivers/power/line-exchange.ts'),
    import('../lib/datagram.ts'),
    import('../lib/tls-wire.ts'),
  ])
  const timeouts = { connectMs: LIMITS.connectTimeoutMs, requestMs: LIMITS.requestTimeoutMs }
  return createPowerDriver({
    clock: driverDeps.clock,
    sendDatagram,
    exchangeLines,
    openBmc: ({ address, port, fingerprint }) =>
      openTlsWire({
        endpoint: `https://${address.includes(':') ? `[${address}]` : address}:${port}`,
        maxSockets: 2,
        timeouts,
        ...(fingerprint === undefined ? {} : { fingerprint }),
      }),
    resolveSecret: driverDeps.resolveSecret,
    ...(driverDeps.openShell === undefined ? {} : { openShell: driverDeps.openShell }),
  })
}

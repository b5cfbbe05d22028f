import { createHash } from 'node:crypto'
import { runCloudInit } from '../guest/cloud-init.ts'
import { bootId, createMachine } from '../guest/machine.ts'
import type { Trouble } from '../guest/types.ts'
import { bootService, crashService } from '../k3s/service.ts'
import { between } from '../world/chance.ts'
import type { Box, World } from '../world/types.ts'
import { forgetHost } from './host-state.ts'

export interface BoxOptions {
  readonly name: string
  readonly addresses: readonly string[]
  readonly mac?: string
  readonly power?: 'on' | 'off'
  readonly bootMs?: readonly [number, number]
  readonly machineId?: string
}

/** Adds a box with an installed system. */
export function addBox(world: World, options: BoxOptions): Box {
  const trouble: Trouble = {}
  const machine = createMachine(false, trouble)
  const seed = createHash('sha256').update(options.name).digest('hex')
  const { system } = machine
  system.machineId = options.machineId ?? seed.slice(0, 32)
  system.hostname = options.name
  system.wantedHostname = options.name
  machine.files.write('/etc/machine-id', `${system.machineId}\n`)
  machine.files.write('/etc/hostname', `${options.name}\n`)
  const box: Box = {
    name: options.name,
    mac: (options.mac ?? `52:54:00:${seed.slice(0, 6).replace(/(..)(?=.)/g, '$1:')}`).toLowerCase(),
    addresses: [...options.addresses],
    power: 'off',
    booted: false,
    life: 0,
    machine,
    computer: {
      id: `metal/${options.name}`,
      world,
      machine,
      isUp: () => box.power === 'on' && box.booted && trouble.noNetwork !== true,
      hostname: () => system.hostname,
      addresses: () => box.addresses,
      goDown: () => shutDown(world, box),
    },
    trouble,
    bmcRepliesLost: 0,
    resets: [],
    wakeOnLan: true,
    bootMs: options.bootMs ?? [60_000, 120_000],
  }
  world.metal.set(box.name, box)
  if (options.power !== 'off') {
    box.power = 'on'
    box.booted = true
    nextLife(box)
  }
  return box
}

function nextLife(box: Box): void {
  box.life += 1
  box.machine.life = box.life
  box.machine.processes.clear()
  box.machine.addresses.clear()
  box.machine.logins.length = 0
  box.machine.nextPid = 900
  box.machine.system.bootId = bootId(`${box.name}/${box.life}`)
}

/** The button, the controller or the packet: all the same to the box. */
export function switchOn(world: World, box: Box): void {
  if (box.power === 'on') return
  box.power = 'on'
  nextLife(box)
  const { life } = box
  if (box.trouble.neverBoots === true) return
  world.clock.schedule(world.clock.now() + between(world.random, box.bootMs) + (box.trouble.slowBootMs ?? 0), () => {
    if (box.life !== life || box.power !== 'on') return
    box.booted = true
    bootService(box.computer)
  })
}

/** `graceful`: its system was asked to go down. */
export function switchOff(world: World, box: Box, graceful = false): void {
  if (box.power === 'off') return
  crashService(box.machine, world, graceful)
  box.power = 'off'
  box.booted = false
  box.life += 1
}

/** Its system is asked to go down: it takes its time, and may not do it at all. */
export function shutDown(world: World, box: Box): void {
  const { life } = box
  if (!box.booted || box.trouble.neverStops === true) return
  world.clock.schedule(world.clock.now() + SHUTDOWN_MS, () => {
    if (box.life === life) switchOff(world, box, true)
  })
}

const SHUTDOWN_MS = 3_000

export function reboot(world: World, box: Box): void {
  switchOff(world, box, true)
  switchOn(world, box)
}

/** A magic packet for this hardware address. Boxes that do not listen, and those that run, do nothing. */
export function wake(world: World, mac: string): void {
  for (const box of world.metal.values()) if (box.mac === mac.toLowerCase() && box.wakeOnLan) switchOn(world, box)
}

/** Reinstalls a box from a seed, as an unattended installer does: an empty disk, then cloud-init. */
export function reinstall(
  world: World,
  box: Box,
  seed: { readonly instanceId: string; readonly userData: string },
): void {
  crashService(box.machine, world, false)
  const { files } = box.machine
  for (const name of files.list('/')) files.remove(`/${name}`)
  forgetHost(box)
  nextLife(box)
  box.power = 'on'
  box.booted = true
  const { life } = box
  runCloudInit(box.computer, { ...seed, goesOn: () => box.life === life }, () => undefined)
}

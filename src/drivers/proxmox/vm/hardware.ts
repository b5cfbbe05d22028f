import { flag, word } from './option.ts'

/**
 * The version may be pinned by Proxmox itself (it does so for Windows): `q35` declared and `pc-q35-10.0+pve1` there
 * is no difference.
 */
export const machine = word({
  path: 'machine',
  key: 'machine',
  effect: 'restart',
  fallback: 'pc',
  declared: (vm) => vm.machine,
  same: (declared, observed) => normalMachine(declared) === normalMachine(observed) || isPinned(declared, observed),
})

export const bios = word({
  path: 'bios',
  key: 'bios',
  effect: 'restart',
  fallback: 'seabios',
  declared: (vm) => vm.bios,
})

export const osType = word({
  path: 'osType',
  key: 'ostype',
  effect: 'restart',
  fallback: 'other',
  declared: (vm) => vm.osType,
})

export const acpi = flag({
  path: 'acpi',
  key: 'acpi',
  effect: 'restart',
  fallback: true,
  declared: (vm) => vm.acpi,
})

/** A list in any order; 1 stands for the usual three, 0 for none. */
export const hotplug = word({
  path: 'hotplug',
  key: 'hotplug',
  effect: 'live',
  fallback: '1',
  declared: (vm) => vm.hotplug,
  same: (declared, observed) => normalHotplug(declared) === normalHotplug(observed),
})

/** Only root may set it. */
export const hookScript = word({
  path: 'hookScript',
  key: 'hookscript',
  effect: 'live',
  fallback: '',
  declared: (vm) => vm.hookScript,
})

export const tablet = flag({
  path: 'tablet',
  key: 'tablet',
  effect: 'live',
  fallback: true,
  declared: (vm) => vm.tablet,
})

/** Left out, the keyboard follows the viewer's own layout. */
export const keyboard = word({
  path: 'keyboard',
  key: 'keyboard',
  effect: 'restart',
  fallback: '',
  declared: (vm) => vm.keyboard,
})

function normalHotplug(text: string): string {
  if (text === '0') return ''
  const features = text === '1' ? ['disk', 'network', 'usb'] : text.split(/[;,\s]+/)
  return [...new Set(features)].sort().join(',')
}

function normalMachine(text: string): string {
  const parts = text.replace(/^type=|,type=/, ',').split(',')
  return parts
    .filter((part) => part !== '')
    .map((part) => (part === 'pc-i440fx' ? 'pc' : part))
    .sort()
    .join(',')
}

function isPinned(declared: string, observed: string): boolean {
  if (declared === 'q35') return /^pc-q35-[\d.]+(\+pve\d+)?$/.test(observed)
  return declared === 'pc' && /^pc-i440fx-[\d.]+(\+pve\d+)?$/.test(observed)
}

/**
 * The version may be pinned by Proxmox itself (it does so for Windows): `q35` declared and `pc-q35-10.0+pve1` there
 * is no difference.
 */
export function sameMachine(declared: string, observed: string): boolean {
  return normalMachine(declared) === normalMachine(observed) || isPinned(declared, observed)
}

/** A list in any order; 1 stands for the usual three, 0 for none. */
export function sameHotplug(declared: string, observed: string): boolean {
  return normalHotplug(declared) === normalHotplug(observed)
}

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

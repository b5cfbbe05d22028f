import { type Formats, matching } from './format.ts'

const VOLUME = /^[a-zA-Z][a-zA-Z0-9\-_.]*[a-zA-Z0-9]:.+$/

function volumeError(text: string): string | undefined {
  return VOLUME.test(text) ? undefined : `unable to parse volume ID '${text}'`
}

/** Volumes and what may stand in the place of one. */
export const VOLUME_FORMATS: Formats = {
  'pve-volume-id': { judge: volumeError },
  'pve-volume-id-or-qm-path': {
    judge: (text) => (text === 'none' || text === 'cdrom' || text.startsWith('/') ? undefined : volumeError(text)),
  },
  'pve-volume-id-or-absolute-path': { judge: (text) => (text.startsWith('/') ? undefined : volumeError(text)) },
  'disk-size': matching(/^\d+(?:\.\d+)?[KMGT]?$/, (text) => `value does not look like a valid disk size: ${text}`),
  'pve-lxc-mp-string': { judge: mountPointError },
  'pve-lxc-dev-string': matching(/^\/dev\/.+$/, (text) => `${text} is not a valid device path`),
}

/** A path that climbs (`..`) or is written oddly (`/./`) is refused wherever it stands. */
function mountPointError(text: string): string | undefined {
  const climbs = /(?:^|\/)\.\.?(?:\/|$)/.test(text)
  return climbs ? `${text} contains illegal character sequences` : undefined
}

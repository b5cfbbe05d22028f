import { HOST_PROGRAMS } from '../../model/host-item.ts'
import { HOST_PATH } from './host-path.ts'

/** Where the scripts lie that take unconfirmed changes back, a file for each. */
export const ARMED = '/var/lib/croft/revert'

const UNIT = '/etc/systemd/system/croft-revert.service'
/**
 * A host that starts anew in between has lost its timer: it takes everything back as soon as what it is about runs.
 * Before that a reload of sshd would wait for sshd, and sshd for us.
 */
const AT_START = [
  '[Unit]',
  'Description=Take back what croft changed and nobody confirmed',
  'After=network.target ssh.service',
  '[Service]',
  'Type=oneshot',
  `ExecStart=/bin/sh -c 'for f in ${ARMED}/*; do [ -f "$$f" ] && /bin/sh "$$f"; done; :'`,
  '[Install]',
  'WantedBy=multi-user.target',
].join('\\n')

/**
 * As a timer of systemd where it runs, else as a program of its own; either outlives our connection, and either counts
 * by the clock that nobody sets.
 */
export const ARM =
  `${HOST_PROGRAMS.arm}\n${HOST_PATH}; ` +
  'if [ -d /run/systemd/system ]; then systemctl stop "croft-revert-$1.timer" 2>/dev/null; ' +
  `[ -e ${UNIT} ] || { printf '${AT_START.replaceAll("'", `'\\''`)}\\n' >${UNIT}; systemctl enable --quiet croft-revert.service; }; ` +
  'systemd-run --quiet --collect --unit="croft-revert-$1" --on-active="$2" --timer-property=AccuracySec=1s /bin/sh "$3"; ' +
  'else setsid -f sh -c \'sleep "$1"; exec /bin/sh "$2"\' sh "$2" "$3" </dev/null >/dev/null 2>&1; fi'

export const DISARM =
  `${HOST_PROGRAMS.disarm}\n${HOST_PATH}; ` +
  // The timer goes in any case: left behind, it would take back the next change of the same thing.
  'said=0; [ -e "$2" ] || said=7; rm -f -- "$2"; ' +
  'if [ -d /run/systemd/system ]; then systemctl stop "croft-revert-$1.timer" 2>/dev/null || :; ' +
  `if rmdir ${ARMED} 2>/dev/null; then systemctl disable --quiet croft-revert.service 2>/dev/null; rm -f ${UNIT}; fi; fi; exit "$said"`

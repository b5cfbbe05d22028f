/** Field manager of a Power for foreign objects: scaled replicas, cordons, taints. */
export const POWER_MANAGER = 'croft-power'

"""Complete backups: the database, the originals and the vault's key, in one folder or archive."""

from penstock.backup.manifest import Manifest
from penstock.backup.restoring import Restored, check_backup, restore_all
from penstock.backup.writing import back_up_all

__all__ = ["Manifest", "Restored", "back_up_all", "check_backup", "restore_all"]

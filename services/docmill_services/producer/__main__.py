"""``python -m docmill_services.producer``."""

from docmill_services.producer.process import main

if __name__ == "__main__":
    main()

select internal.register_channel('{{channel}}');
